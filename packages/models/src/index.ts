export { checkBaseModel } from './adapter/base-model.ts';
export {
  adapterConfigFile,
  adapterTensorNames,
  type LoraAdapter,
  type LoraScaling,
  type LoraSettings,
  type LoraVariant,
  loraScale,
  readLoraAdapter,
} from './adapter/lora-adapter.ts';
export {
  adaptedWeights,
  outputNorms,
  type SavableAdapter,
  writeLoraAdapter,
} from './adapter/write-adapter.ts';
export {
  type ChatRendererOptions,
  chatRenderer,
  type TemplateChatRenderer,
  type TemplateRenderOptions,
} from './chat/chat-renderer.ts';
export {
  type ChatTemplateDescription,
  type DescribeTemplateOptions,
  describeChatTemplate,
  type HistorySupport,
  type TemplateHandling,
} from './chat/describe-template.ts';
export type {
  Activation,
  Architecture,
  ExpertsConfig,
  ModelConfig,
  PositionEncoding,
  RopeScaling,
} from './config/model-config.ts';
export { parseModelConfig } from './config/parse-config.ts';
export { type HubName, hubNameOf, parseHubName } from './hub/hub-name.ts';
export type { ModelPart } from './hub/model-files.ts';
export { type ModelFolderOptions, modelFolder } from './hub/model-folder.ts';
export {
  type ModelBlobs,
  type ModelBlobsAtOptions,
  modelBlobs,
  modelBlobsAt,
  readModel,
} from './model/blobs.ts';
export { type CreateModelOptions, createModel } from './model/create-model.ts';
export type { LanguageModel } from './model/language-model.ts';
export {
  type LoadModelOptions,
  loadModel,
  loadModelConfig,
  loadWeights,
  staysInFile,
} from './model/load-model.ts';
export { type SavableModel, type SaveModelOptions, saveModel, writeModelFiles } from './model/save-model.ts';
export { checkWeightShapes } from './model/weight-shapes.ts';
export {
  type BuiltTokenizerOptions,
  byteTokenizer,
  characterTokenizer,
  type SpecialTokens,
} from './tokenizer/built-tokenizers.ts';
export {
  CompletionText,
  completionText,
  type TextOptions,
  type TextProgress,
} from './tokenizer/completion-text.ts';
export {
  type LoadedTokenizer,
  type LoadTokenizerOptions,
  loadTokenizer,
  tokenizerChat,
} from './tokenizer/load-tokenizer.ts';
export { StreamDecoder } from './tokenizer/stream-decoder.ts';
export { type TextTokenizer, textTokenizer } from './tokenizer/text-tokenizer.ts';
export { tokenTexts } from './tokenizer/token-texts.ts';
export type { TokenizerFiles, TokenRoles } from './tokenizer/tokenizer-files.ts';
