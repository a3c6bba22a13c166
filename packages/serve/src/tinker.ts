/** Serves Tinker's protocol, so that its clients train and sample on your machine. Needs Node. */

export { type OnnxTinkerTrainerOptions, onnxTinkerTrainer } from './tinker/onnx-trainer.ts';
export { type ServeTinkerOptions, serveTinker } from './tinker/serve-tinker.ts';
export type { HostedPolicy, HostedSampler, PolicySettings, TinkerTrainer } from './tinker/trainer.ts';
