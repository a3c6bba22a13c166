import {
  callback,
  type Environment,
  type EnvironmentContext,
  EnvironmentError,
  longestTimerMs,
  messageOf,
  parseOptions,
  pause,
  RandomStream,
  requireFields,
  retried,
  type State,
  settleWithin,
  transienceOf,
} from '@rlp/core';
import * as z from 'zod';
import { environmentMethods, lift } from '../lift.ts';
import type { Keyed } from './layer.ts';

const milliseconds = z.number().nonnegative().max(longestTimerMs, 'must fit a timer (2^31 − 1 ms)');

const schema = z.strictObject({
  /** Attempts of one call of `reset` or `updateState`. Default 3. */
  attempts: z.int().min(1).default(3),
  /** Milliseconds of the first wait between attempts. Default 100. */
  firstWaitMs: milliseconds.default(100),
  /** Milliseconds of the longest wait. Default 5000. */
  longestWaitMs: milliseconds.default(5_000),
  /**
   * Milliseconds for all attempts and waits of one call. Default 25000, below the 30000 that a rollout allows for it, so that the
   * record says what failed.
   */
  deadlineMs: milliseconds.positive().default(25_000),
  /** Whether an error may pass. Default: `transienceOf` of `@rlp/core` says `'passing'`, such as for time-outs and servers that are away. */
  isTransient: callback<(error: unknown) => boolean>().default(
    () => (error: unknown) => transienceOf(error) === 'passing',
  ),
  /** Waits between attempts. Default: a timer. */
  sleep: callback<typeof pause>().default(() => pause),
});

/** Options of {@link withRetries}. */
export interface RetryOptions extends z.input<typeof schema> {}

/** What {@link withRetries} keeps in the state. */
export interface RetryUse {
  /** Attempts beyond the first, over the whole episode. */
  readonly made: number;
  /** Names the waits. */
  readonly seed: number;
}

/**
 * The same environment, in which calls of `reset` and `updateState` are made again if they failed for a moment. States are values, so a
 * second attempt begins where the first did. Metric: `retries/made`.
 *
 * An error that lasts, and the last error of all attempts, fail the episode with its cause.
 *
 * @throws OptionsError naming every problem at once.
 */
export function withRetries<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  options: RetryOptions = {},
): Environment<Keyed<S, 'retries', RetryUse>, Metadata, Outcome> {
  requireFields('withRetries', environmentMethods, environment);
  const settings = parseOptions('withRetries', schema, options, 'RetryOptions');
  const inner = ({ retries: _, ...state }: Keyed<S, 'retries', RetryUse>) => state as unknown as S;
  const outer = (state: S, retries: RetryUse) => ({ ...state, retries }) as Keyed<S, 'retries', RetryUse>;
  return {
    ...lift(environment, inner),
    reset: async (task, seed, context) => {
      const call = (own: EnvironmentContext) => environment.reset(task, seed, own);
      const { value, made } = await attempted(call, settings, { path: [seed], context });
      if (!Object.hasOwn(value, 'retries')) return outer(value, { made, seed });
      throw new EnvironmentError(
        'withRetries: the state has a field "retries" already: use withRetries once',
      );
    },
    updateState: async (state, response, context) => {
      const { made: before, seed } = state.retries;
      const call = (own: EnvironmentContext) => environment.updateState(inner(state), response, own);
      const path = [seed, state.stepCount, response];
      const { value, made } = await attempted(call, settings, { path, context });
      return outer(value, { made: before + made, seed });
    },
    metrics: (state) => ({ ...environment.metrics?.(inner(state)), 'retries/made': state.retries.made }),
  };
}

/** The value of a call, and the attempts beyond the first that it took. */
async function attempted<Value>(
  call: (context: EnvironmentContext) => Value | Promise<Value>,
  { attempts, firstWaitMs, longestWaitMs, deadlineMs, isTransient, sleep }: z.output<typeof schema>,
  {
    path,
    context,
  }: { readonly path: readonly (string | number)[]; readonly context: EnvironmentContext | undefined },
): Promise<{ readonly value: Value; readonly made: number }> {
  const controller = new AbortController();
  const { signal } = controller;
  let made = 0;
  let last: unknown;
  const work = async (attempt: number) => {
    made = attempt - 1;
    return call({ ...context, signal });
  };
  const waitAfter = (error: unknown) => {
    last = error;
    return isTransient(error) ? 0 : undefined;
  };
  const backoff = { firstMs: firstWaitMs, longestMs: longestWaitMs };
  const random = () => RandomStream.named('retries', ...path);
  const working = retried(work, { attempts, backoff, random, waitAfter, signal, sleep });
  try {
    const value = await settleWithin(working, controller, { timeoutMs: deadlineMs, signal: context?.signal });
    return { value, made };
  } catch (error) {
    context?.signal?.throwIfAborted();
    if (made === 0 && !signal.aborted) throw error;
    const why =
      signal.aborted && last !== undefined
        ? `${messageOf(error)}, after ${messageOf(last)}`
        : messageOf(error);
    throw new EnvironmentError(`withRetries: attempt ${made + 1} of ${attempts}: ${why}`, { cause: error });
  }
}
