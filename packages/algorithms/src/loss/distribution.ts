import { requireArguments, type TensorOps } from '@rlp/core';

/**
 * `ln softmax` of every row, computed so that it cannot overflow.
 *
 * @param logits - One distribution per row: `[N, V]`.
 */
export function logSoftmax<T>(ops: TensorOps<T>, logits: T): T {
  requireArguments('logSoftmax', { ops: 'operations', logits: 'given' }, ops, logits);
  const shifted = ops.sub(logits, ops.stopGradient(ops.rowMax(logits)));
  return ops.sub(shifted, ops.log(ops.rowSum(ops.exp(shifted))));
}

/**
 * Logprob of one token per row, `[N, 1]`.
 *
 * @param logits - `[N, V]`.
 * @param oneHot - 1 at each row's token, else 0; `[N, V]`. A row of zeros gives 0.
 */
export function chosenLogprobs<T>(ops: TensorOps<T>, logits: T, oneHot: T): T {
  requireArguments(
    'chosenLogprobs',
    { ops: 'operations', logits: 'given', oneHot: 'given' },
    ops,
    logits,
    oneHot,
  );
  return ops.rowSum(ops.mul(logSoftmax(ops, logits), oneHot));
}

/**
 * Entropy of every row's distribution, in nats, `H = −Σ p ln p`, `[N, 1]`.
 *
 * @param logits - `[N, V]`.
 */
export function entropyOf<T>(ops: TensorOps<T>, logits: T): T {
  requireArguments('entropyOf', { ops: 'operations', logits: 'given' }, ops, logits);
  const logs = logSoftmax(ops, logits);
  return ops.neg(ops.rowSum(ops.mul(ops.exp(logs), logs)));
}

/**
 * The whole `KL(p ‖ q) = Σ p·(ln p − ln q)` of every row, in nats, `[N, 1]`: not an estimate from the sampled token.
 *
 * @param logits - Of p; `[N, V]`.
 * @param otherLogits - Of q; `[N, V]`.
 */
export function fullKl<T>(ops: TensorOps<T>, logits: T, otherLogits: T): T {
  requireArguments(
    'fullKl',
    { ops: 'operations', logits: 'given', otherLogits: 'given' },
    ops,
    logits,
    otherLogits,
  );
  const logs = logSoftmax(ops, logits);
  return ops.rowSum(ops.mul(ops.exp(logs), ops.sub(logs, logSoftmax(ops, otherLogits))));
}

/**
 * Probability that two draws agree, `Σ p²` of every row, `[N, 1]`. The optimal token baseline weighs by it.
 *
 * @param logits - `[N, V]`.
 */
export function collisionProbability<T>(ops: TensorOps<T>, logits: T): T {
  requireArguments('collisionProbability', { ops: 'operations', logits: 'given' }, ops, logits);
  return ops.rowSum(ops.square(ops.exp(logSoftmax(ops, logits))));
}
