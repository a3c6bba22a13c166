import * as z from 'zod';

/** Schema of a function; what it takes and gives shows when it is called. */
export function functionSchema<F extends (...given: never[]) => unknown>(): z.ZodType<F, F> {
  return z.custom<F>((value) => typeof value === 'function', 'must be a function');
}

/** Schema of a clock: milliseconds since any fixed point, by default `performance.now`. */
export const clockSchema = functionSchema<() => number>().default(() => () => performance.now());
