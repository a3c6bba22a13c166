import type { NamedSchema } from '@rlp/core';
import * as z from 'zod';
import type { TokenRows } from '../statistics/token-rows.ts';
import { whitened, whiteningOptionsSchema } from '../statistics/whitened.ts';

const fields = z.strictObject({
  ...whiteningOptionsSchema.shape,
  /** Whitens over the trained tokens, or also over those of the environment (`'all'`, as SkyRL). Default `'trained'`. */
  over: z.enum(['trained', 'all']).default('trained'),
});

/** How advantages are whitened over the tokens of the iteration. */
export interface AdvantageWhiteningOptions extends z.input<typeof fields> {}

/** {@link AdvantageWhiteningOptions} with every default filled in. */
export interface ResolvedAdvantageWhiteningOptions extends z.output<typeof fields> {}

const fieldsSchema: NamedSchema<AdvantageWhiteningOptions, ResolvedAdvantageWhiteningOptions> = fields;

/** Schema of {@link Whitening}. */
export const whiteningSchema = z.union([z.literal('none'), fieldsSchema]);

/** `'none'`, or how advantages are whitened over the tokens of the iteration. See `whitened`. */
export type Whitening = z.input<typeof whiteningSchema>;

/** Advantages, whitened if wanted. */
export function applyWhitening(
  advantages: TokenRows,
  masks: TokenRows,
  whitening: z.output<typeof whiteningSchema>,
): TokenRows {
  if (whitening === 'none') return advantages;
  const { over, ...options } = whitening;
  return whitened(advantages, over === 'trained' ? masks : undefined, options);
}
