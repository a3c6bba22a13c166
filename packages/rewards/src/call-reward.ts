import {
  isPromiseLike,
  messageOf,
  RewardError,
  type RewardFunction,
  settleWithin,
  TimeoutError,
  type Trajectory,
} from '@rlp/core';

/** Why a reward function gave no verdict: it threw, took too long, or gave what is no finite number. */
export type RewardFailureCause = 'threw' | 'timed-out' | 'not-finite';

/** What one call of a reward function gave; `failure` says why a value is `null` though the function did not say so. */
export interface Verdict {
  readonly value: number | null;
  readonly failure?: { readonly cause: RewardFailureCause; readonly error: RewardError } | undefined;
}

/** How long a call may take. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Calls a reward function. Rejects only with the signal's reason, once aborted. */
export function callReward<Metadata, Outcome>(
  name: string,
  reward: RewardFunction<Metadata, Outcome>,
  trajectory: Trajectory<Metadata, Outcome>,
  limits: CallLimits,
): Promise<Verdict> {
  return callWithin(name, (signal) => reward(trajectory, { signal }), limits);
}

/** Calls anything that gives a reward, with a signal that fires when its time is up. Rejects as {@link callReward} does. */
export async function callWithin(
  name: string,
  call: (signal: AbortSignal) => number | null | PromiseLike<number | null>,
  { timeoutMs, signal }: CallLimits,
): Promise<Verdict> {
  const controller = new AbortController();
  try {
    const value = call(controller.signal);
    if (!isPromiseLike(value)) return verdictOf(name, value);
    return verdictOf(name, await settleWithin(value, controller, { timeoutMs, signal }));
  } catch (error) {
    signal?.throwIfAborted();
    const cause = error instanceof TimeoutError && controller.signal.aborted ? 'timed-out' : 'threw';
    return failed(cause, name, messageOf(error), error);
  }
}

function verdictOf(name: string, value: unknown): Verdict {
  if (value === null || (typeof value === 'number' && Number.isFinite(value))) return { value };
  return failed('not-finite', name, `expected a finite number or null, got ${String(value)}`);
}

function failed(cause: RewardFailureCause, name: string, message: string, error?: unknown): Verdict {
  return {
    value: null,
    failure: { cause, error: new RewardError(`reward "${name}": ${message}`, { cause: error }) },
  };
}
