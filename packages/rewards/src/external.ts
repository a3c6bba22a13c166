/** Reward models behind HTTP. */
export * from './external/external-reward.ts';
export type { ExternalRewardOptions } from './external/options.ts';
export * from './external/wire-shapes.ts';
