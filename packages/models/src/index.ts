export { checkBaseModel } from './adapter/base-model.ts';
export {
  adapterConfigFile,
  adapterTensorNames,
  type LoraAdapter,
  type LoraScaling,
  type LoraSettings,
  loraScale,
  readLoraAdapter,
} from './adapter/lora-adapter.ts';
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
export {
  type Activation,
  type Architecture,
  type ModelConfig,
  maximumSequenceLength,
  type PositionEncoding,
  type RopeScaling,
} from './config/model-config.ts';
export { parseModelConfig } from './config/parse-config.ts';
export type { DecoderBlocks } from './decoder/blocks.ts';
export { decoderHidden } from './decoder/decoder.ts';
export {
  type DecoderLayer,
  type DecoderLayout,
  decoderLayout,
  type LinearLayer,
  type NormLayer,
} from './decoder/layout.ts';
export {
  type DecoderParameter,
  headParameter,
  linearLayers,
  parameterSpecs,
} from './decoder/parameters.ts';
export { type RopeTables, ropeTables } from './decoder/rope.ts';
export { linearLayer, type TrainingBlocksOptions, trainingBlocks } from './decoder/training-blocks.ts';
export { type CreateModelOptions, createModel } from './model/create-model.ts';
export type { LanguageModel } from './model/language-model.ts';
export { type LoadModelOptions, loadModel, loadModelConfig, loadWeights } from './model/load-model.ts';
export { type SavableModel, type SaveModelOptions, saveModel, writeModelFiles } from './model/save-model.ts';
export { checkWeightShapes } from './model/weight-shapes.ts';
export { decodeFloats, encodeFloats, type FloatType, floatSize } from './safetensors/floats.ts';
export {
  parseSafetensorsHeader,
  type SafetensorsHeader,
  type StoredTensor,
  type StoredType,
} from './safetensors/header.ts';
export {
  openSafetensors,
  type ReadOptions,
  readSafetensors,
  readTensors,
  type SafetensorsCheckpoint,
} from './safetensors/read.ts';
export { type WriteSafetensorsOptions, writeSafetensors } from './safetensors/write.ts';
export {
  type BuiltTokenizerOptions,
  byteTokenizer,
  characterTokenizer,
  type SpecialTokens,
} from './tokenizer/built-tokenizers.ts';
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
