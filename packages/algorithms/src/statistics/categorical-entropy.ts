import { ArgumentError } from '@rlp/core';

/**
 * Entropy of `softmax(logits)` in nats.
 *
 *     H = ln Σ exp(z) − Σ softmax(z)·z
 *
 * Computed from logits less their largest, so that none overflows. Shape: `[V]`.
 *
 * @throws ArgumentError for no logit or one that is not finite.
 */
export function categoricalEntropy(logits: ArrayLike<number>): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let v = 0; v < logits.length; v++) {
    if (!Number.isFinite(logits[v])) {
      throw new ArgumentError(`categoricalEntropy: logits[${v}] must be finite, got ${String(logits[v])}`);
    }
    largest = Math.max(largest, logits[v]!);
  }
  if (logits.length === 0) throw new ArgumentError('categoricalEntropy: logits must not be empty');
  let total = 0;
  let weighted = 0;
  for (let v = 0; v < logits.length; v++) {
    const shifted = logits[v]! - largest;
    const weight = Math.exp(shifted);
    total += weight;
    weighted += weight * shifted;
  }
  return Math.log(total) - weighted / total;
}
