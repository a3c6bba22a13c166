import * as z from 'zod';

/** Schema of a function. `what` says what is expected, such as `'a function of a message'`. */
export function callback<Type extends (...given: never) => unknown>(what = 'a function') {
  return z.custom<Type>((value) => typeof value === 'function', `must be ${what}`);
}
