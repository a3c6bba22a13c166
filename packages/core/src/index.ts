// Declarations of the packages above name Symbol.asyncDispose, which a page without types of Node would not know.
/// <reference lib="esnext.disposable" preserve="true" />
export * from './abort.ts';
export * from './environment.ts';
export * from './errors.ts';
export { type RecordName, recordJsonSchema, recordNames } from './json-schemas.ts';
export * from './logger.ts';
export * from './message.ts';
export * from './message-of.ts';
export * from './metrics.ts';
export * from './monitor.ts';
export * from './options.ts';
export { type RandomState, RandomStream } from './random.ts';
export * from './reward.ts';
export * from './sample.ts';
export * from './sampler.ts';
export { isPromiseLike, settleWithin, type WorkLimits } from './settle-within.ts';
export * from './step-data.ts';
export * from './task.ts';
export * from './task-definition.ts';
export * from './tensor-ops.ts';
export * from './token-sequence.ts';
export * from './tokenizer.ts';
export * from './tool-calls.ts';
export * from './training.ts';
export * from './trajectory.ts';
export * from './trajectory-from-messages.ts';
export * from './verifier.ts';
