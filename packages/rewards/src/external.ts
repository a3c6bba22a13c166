/** Reward models behind HTTP. */
export type { CircuitState } from './external/circuit.ts';
export * from './external/external-reward.ts';
export * from './external/failure.ts';
export * from './external/fetch.ts';
export type { ExternalRewardOptions, RequestOptions } from './external/options.ts';
export * from './external/wire-shapes.ts';
