import * as z from 'zod';

/** Milliseconds that a timer can wait; longer ones fire at once. */
export const longestTimerMs = 2_147_483_647;

/** Schema of a time in milliseconds that a timer can wait. */
export const timerMs = z.number().positive().max(longestTimerMs, 'must fit a timer (2^31 − 1 ms)');

/** Schema of a function; what it takes and gives shows when it is called. */
export function functionSchema<F extends (...given: never[]) => unknown>(): z.ZodType<F, F> {
  return z.custom<F>((value) => typeof value === 'function', 'must be a function');
}

/** Schema of a clock: milliseconds since any fixed point, by default `performance.now`. */
export const clockSchema = functionSchema<() => number>().default(() => () => performance.now());
