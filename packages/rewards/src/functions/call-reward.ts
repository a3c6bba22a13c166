import {
  isPromiseLike,
  messageOf,
  RewardError,
  type RewardFailureCause,
  settleWithin,
  TimeoutError,
} from '@rlp/core';

/** Result of one call of a reward function. `failure` says why a value is `null` although the function did not return `null`. */
export interface Verdict {
  readonly value: number | null;
  /** Rewards of single steps, by their place among the steps. Not weighted. */
  readonly stepRewards?: ReadonlyMap<number, number> | undefined;
  readonly failure?:
    | { readonly cause: Exclude<RewardFailureCause, 'unreadable'>; readonly error: RewardError }
    | undefined;
}

/** Limits of a call. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Calls anything that gives a reward, with a signal that fires when its time is up. A call that answers at once costs no promise
 * and no timer. Rejects only with the signal's reason, once aborted.
 */
export function callWithin(
  name: string,
  call: (context: { readonly signal: AbortSignal }) => number | null | PromiseLike<number | null>,
  limits: CallLimits,
): Verdict | Promise<Verdict> {
  const context = new CallContext();
  try {
    const value = call(context);
    return isPromiseLike(value) ? settled(name, value, context, limits) : verdictOf(name, value);
  } catch (error) {
    limits.signal?.throwIfAborted();
    return failed('threw', name, messageOf(error), error);
  }
}

/** Has a signal once somebody asks for it. */
export class CallContext {
  #controller: AbortController | undefined;

  get controller(): AbortController {
    this.#controller ??= new AbortController();
    return this.#controller;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }
}

async function settled(
  name: string,
  value: PromiseLike<number | null>,
  { controller }: CallContext,
  { timeoutMs, signal }: CallLimits,
): Promise<Verdict> {
  try {
    return verdictOf(name, await settleWithin(value, controller, { timeoutMs, signal }));
  } catch (error) {
    signal?.throwIfAborted();
    const cause = error instanceof TimeoutError ? 'timed-out' : 'threw';
    return failed(cause, name, messageOf(error), error);
  }
}

function verdictOf(name: string, value: unknown): Verdict {
  if (value === null || (typeof value === 'number' && Number.isFinite(value))) return { value };
  return failed('not-finite', name, `expected a finite number or null, got ${shown(value)}`);
}

/** A value that is not a reward. A judgement needs the function that reads it. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' ? 'a function' : String(value);
  const fields = Object.keys(value);
  if (!fields.includes('score'))
    return fields.length === 0 ? 'an object' : `an object with ${fields.join(', ')}`;
  return `an object with ${fields.join(', ')}; reward({ name, score }) of @rlp/rewards/authoring reads judgements`;
}

function failed(
  cause: NonNullable<Verdict['failure']>['cause'],
  name: string,
  message: string,
  error?: unknown,
): Verdict {
  // A reward that was written by `reward` names itself.
  const place = `reward "${name}": `;
  const sentence = message.startsWith(place) ? message : place + message;
  return { value: null, failure: { cause, error: new RewardError(sentence, { cause: error }) } };
}
