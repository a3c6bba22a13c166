export {
  type BackendLoraOptions,
  type LoraOptions,
  type OnnxBackendOptions,
  type OptimStepOptions,
  onnxBackendSchema,
  precisionProblem,
} from './backend-options.ts';
export { createOnnxBackend } from './create-backend.ts';
export {
  countParameters,
  estimateMemory,
  type MemoryEstimate,
  type MemoryQuestion,
} from './memory/estimate-memory.ts';
export type { LogprobsOptions, OnnxTrainingBackend } from './onnx-backend.ts';
export {
  type AdamState,
  type AdamStep,
  adam,
  adamw,
  clipFactor,
  globalNorm,
  movingAverage,
  type NumericArray,
  type SgdStep,
  sgd,
} from './optimizer/optimizer.ts';
export type {
  Adamw,
  AdamwOptions,
  Optimizer,
  OptimizerKind,
  OptimizerOf,
  OptimizerOptions,
} from './optimizer/options.ts';
export {
  type Schedule,
  type ScheduleOptions,
  scheduleFactor,
  scheduleKinds,
  scheduleSchema,
} from './optimizer/schedule.ts';
export { requireCorrection } from './weights/lora-plan.ts';
export { readValueHead } from './weights/read-value-head.ts';
