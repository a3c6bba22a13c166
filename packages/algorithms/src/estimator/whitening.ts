import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import type { TokenRows } from '../statistics/token-rows.ts';
import { type WhiteningOptions, whitened } from '../statistics/whitened.ts';

const overSchema = z.enum(['trained', 'all']).default('trained');

/** `'none'`, or how advantages are whitened over the tokens of the iteration; see `whitened`. */
export type Whitening =
  | 'none'
  | (WhiteningOptions & {
      /** Over trained tokens (default), or what the environment said between them as well (`'all'`: SkyRL). */
      readonly over?: z.input<typeof overSchema>;
    });

/** Checks the options now rather than when the first batch is there. */
export function requireWhitening(whitening: Whitening): void {
  applyWhitening([], [], whitening);
}

/** Advantages, whitened if wanted. */
export function applyWhitening(advantages: TokenRows, masks: TokenRows, whitening: Whitening): TokenRows {
  if (whitening === 'none') return advantages;
  const { over, ...options } = whitening;
  const isMasked = parseOptions('whitening.over', overSchema, over) === 'trained';
  return whitened(advantages, isMasked ? masks : undefined, options);
}
