/** Samples from an SGLang server: tokens in and out, adapters and checkpoints as new weights. */
export { createSglangSampler, type SglangSamplerOptions } from './sglang/create.ts';
