import { requireArguments, requireFields } from './options/require-arguments.ts';
import { pause } from './pause.ts';
import type { RandomStream } from './random.ts';

/** How often and how soon {@link retried} tries again. */
export interface Retries {
  /** Attempts in all. */
  readonly attempts: number;
  /** Milliseconds of the first wait and of the longest. */
  readonly backoff: { readonly firstMs: number; readonly longestMs: number };
  /** Draws the waits. Made when there is one. */
  readonly random: () => RandomStream;
  /** The least milliseconds to wait after an error, or `undefined` to give up. */
  readonly waitAfter: (error: unknown) => number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Waits. Default {@link pause}. */
  readonly sleep?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/**
 * Does work again until it succeeds, as long as `waitAfter` says that trying again may help. Rejects with the last error.
 *
 * The wait is uniform between `firstMs` and three times the last one, and at least what `waitAfter` asks for, within `longestMs`.
 *
 * @param work - Gets the number of the attempt, from 1.
 */
export async function retried<Value>(
  work: (attempt: number) => Value | Promise<Value>,
  inputs: Retries,
): Promise<Value> {
  requireArguments('retried', { work: 'function' }, work);
  requireFields(
    'retried',
    { attempts: 'number', backoff: 'object', random: 'function', waitAfter: 'function' },
    inputs,
  );
  const {
    attempts,
    backoff: { firstMs, longestMs },
    random,
    waitAfter,
    signal,
    sleep = pause,
  } = inputs;
  let wait = firstMs;
  let stream: RandomStream | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      const least = attempt < attempts ? waitAfter(error) : undefined;
      if (least === undefined) throw error;
      stream ??= random();
      wait = Math.min(longestMs, firstMs + stream.uniform() * (3 * wait - firstMs));
      await sleep(Math.max(wait, Math.min(least, longestMs)), signal);
    }
  }
}
