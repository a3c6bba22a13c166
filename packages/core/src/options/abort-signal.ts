import * as z from 'zod';

/** Schema of a signal that ends work. */
export const abortSignal = z.custom<AbortSignal>(
  (value) => value instanceof AbortSignal,
  'must be an AbortSignal',
);
