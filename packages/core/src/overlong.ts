import * as z from 'zod';
import type { NamedSchema } from './options/named-schema.ts';
import { parseOptions } from './options/parse-options.ts';
import { requireArguments } from './options/require-arguments.ts';

const schema = z.strictObject({
  /** Longest response, in tokens. */
  maximum: z.number().positive(),
  /** Number of tokens before the maximum at which the penalty begins. 0 makes the penalty a step. */
  buffer: z.number().nonnegative(),
  /** Penalty at the maximum. Default 1. */
  penalty: z.number().positive().default(1),
  /** Beyond the maximum, `'penalty'` keeps the penalty constant (TRL, textpolicy) and `'none'` lets it grow (verl, AReaL). Default `'penalty'`. */
  floor: z.enum(['penalty', 'none']).default('penalty'),
});

/** Options of {@link overlongPenalty}. */
export interface OverlongOptions extends z.input<typeof schema> {}

/** {@link OverlongOptions} with every default filled in. */
export interface ResolvedOverlongOptions extends z.output<typeof schema> {}

/** Schema of {@link OverlongOptions}. */
export const overlongSchema: NamedSchema<OverlongOptions, ResolvedOverlongOptions> = schema;

/**
 * DAPO's soft punishment of long responses, to be added to the reward.
 *
 * It is 0 up to `maximum − buffer` and falls linearly from there to `−penalty` at `maximum`.
 *
 * @param length - Tokens of the response.
 * @throws OptionsError if an option is outside its range.
 * @see Yu et al. 2025 (DAPO), eq. 13, https://arxiv.org/abs/2503.14476
 */
export function overlongPenalty(length: number, options: OverlongOptions): number {
  requireArguments('overlongPenalty', { length: 'number' }, length);
  const { maximum, buffer, penalty, floor } = parseOptions('overlongPenalty', overlongSchema, options);
  const over = length - (maximum - buffer);
  if (over <= 0) return 0;
  const share = buffer === 0 ? 1 : over / buffer;
  return -penalty * (floor === 'penalty' ? Math.min(1, share) : share);
}
