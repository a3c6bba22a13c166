/** Reward models behind HTTP. */
export * from './external/index.ts';
