/** Samples from a vLLM server: tokens in and out, adapters and checkpoints as new weights. */
export { createVllmSampler, type VllmSamplerOptions } from './vllm/create.ts';
