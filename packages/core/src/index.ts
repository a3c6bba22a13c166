// Declarations of the packages above name Symbol.asyncDispose, which a page without types of Node would not know.
/// <reference lib="esnext.disposable" preserve="true" />
export * from './abort.ts';
export * from './backend-groups.ts';
export { base64Of, bytesOf } from './base64.ts';
export * from './causes.ts';
export * from './chat-history.ts';
export * from './choose-publication.ts';
export { counted } from './counted.ts';
export * from './declared-columns.ts';
export { described } from './described.ts';
export * from './environment.ts';
export * from './errors.ts';
export * from './evaluation.ts';
export { Failures } from './failures.ts';
export * from './group-job.ts';
export { hashText, mixedHash, type TextHash } from './hash-text.ts';
export { isRecord } from './is-record.ts';
export { type RecordName, recordJsonSchema, recordNames } from './json-schemas.ts';
export * from './logger.ts';
export { type LostCharacters, lostCharacters } from './lost-characters.ts';
export * from './message.ts';
export * from './message-of.ts';
export * from './metrics.ts';
export * from './monitor.ts';
export * from './next-turn.ts';
export * from './node-builtin.ts';
export * from './optional-peer.ts';
export { abortSignal } from './options/abort-signal.ts';
export { callback } from './options/callback.ts';
export { type ForeignNames, withForeignNames } from './options/foreign-names.ts';
export { having } from './options/having.ts';
export type { NamedSchema } from './options/named-schema.ts';
export { nearNames } from './options/near-names.ts';
export { needed } from './options/needed.ts';
export * from './options/parse-options.ts';
export {
  type ArgumentKind,
  requireArguments,
  requireChoice,
  requireFields,
} from './options/require-arguments.ts';
export { inWords } from './options/wording.ts';
export * from './overlong.ts';
export * from './parse-records.ts';
export { parsedJson } from './parsed-json.ts';
export * from './pattern-termination.ts';
export * from './pause.ts';
export * from './publication.ts';
export { type RandomState, RandomStream } from './random.ts';
export * from './recorded-trajectory.ts';
export { type Retries, retried } from './retried.ts';
export * from './reward.ts';
export * from './reward-sums.ts';
export * from './rollout-event.ts';
export * from './sample.ts';
export * from './sampler.ts';
export { isPromiseLike, settleWithin, type WorkLimits } from './settle-within.ts';
export { startDeadline } from './start-deadline.ts';
export * from './step-data.ts';
export * from './task.ts';
export * from './task-definition.ts';
export * from './tensor-ops.ts';
export * from './text-generator.ts';
export * from './thoughts.ts';
export { longestTimerMs, timerMs } from './timer-ms.ts';
export * from './token-sequence.ts';
export * from './tokenizer.ts';
export { isSilentToken, withCallMarks } from './tool-calls/call-marks.ts';
export type { OfferedTools, ToolCallFormat, WrittenCall, WrittenCalls } from './tool-calls/format.ts';
export * from './tool-calls/parse-tool-calls.ts';
export * from './tool-schema.ts';
export * from './training.ts';
export * from './trajectory.ts';
export * from './trajectory-from-messages.ts';
export * from './verifier.ts';
export * from './watchdog.ts';
export { withMethods } from './with-methods.ts';
export * from './world.ts';
