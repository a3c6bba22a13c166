export { scriptedAgentPolicy } from './agent-policy.ts';
export type { InferenceBackend, ScoreOptions, TokenLogits } from './backend.ts';
export type { BackendName } from './backend-named.ts';
export { type EngineFleet, type EngineFleetOptions, engineFleet } from './fleet/engine-fleet.ts';
export type { FleetEngine, FleetStatus } from './fleet/member.ts';
export { type EngineSync, type SyncWeightsOptions, syncWeightsToEngines } from './fleet/sync-weights.ts';
export type { WeightProbe } from './fleet/weight-probe.ts';
export type { GeneratedText, GenerateOptions, TextEvent } from './generate-options.ts';
export { InferenceModule, type InferenceModuleOptions } from './inference-module.ts';
export { createOnnxSampler } from './onnx-sampler.ts';
export { defaultContext, type OnnxSamplerOptions, onnxSamplerSchema } from './onnx-sampler-options.ts';
export type { Prompt, Response } from './prompts.ts';
export {
  type ScriptedBackendOptions,
  type ScriptedCompletion,
  type ScriptedPrompt,
  scriptedBackend,
} from './scripted-backend.ts';
export type { OfferedTool, ToolResponses } from './tool-calls.ts';
