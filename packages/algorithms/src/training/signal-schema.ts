import * as z from 'zod';

/** Schema of a signal that ends a run. */
export const signalSchema = z.custom<AbortSignal>(
  (value) => value instanceof AbortSignal,
  'must be an AbortSignal',
);
