import type { TokenRows } from '../statistics/token-rows.ts';
import { type WhiteningOptions, whitened } from '../statistics/whitened.ts';

/** `'none'`, or how advantages are whitened over all trained tokens of the iteration; see `whitened`. */
export type Whitening = 'none' | WhiteningOptions;

/** Checks the options now rather than when the first batch is there. */
export function requireWhitening(whitening: Whitening): void {
  if (whitening !== 'none') whitened([], [], whitening);
}

/** Advantages, whitened if wanted. */
export function applyWhitening(advantages: TokenRows, masks: TokenRows, whitening: Whitening): TokenRows {
  return whitening === 'none' ? advantages : whitened(advantages, masks, whitening);
}
