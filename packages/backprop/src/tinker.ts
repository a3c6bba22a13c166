/** Trains and samples on servers that speak Tinker's protocol: Tinker itself, SkyRL and others. */

export type { TinkerBackend } from './tinker/backend.ts';
export { createTinkerBackend, type TinkerBackendOptions } from './tinker/create.ts';
export { createTinkerSampler, type TinkerSamplerOptions } from './tinker/sampler.ts';
