import * as z from 'zod';

/** Schema of an object that has a method. `what` says what is expected, such as `'a sampler'`. */
export function having<Value extends object>(method: keyof Value & string, what: string) {
  return z.custom<Value>(
    (value) => typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function',
    `must be ${what}`,
  );
}
