import type { TensorOps } from '@rlp/core';

/** What {@link truncatedImportanceWeights} reads; each `[B, T]`. */
export interface ImportanceInputs<T> {
  /** `ln π_prox`: the trainer's logprobs before the update. */
  readonly proximalLogprobs: T;
  /** `ln π_b`: the sampler's logprobs. */
  readonly behaviorLogprobs: T;
}

/**
 * Corrects the gap between sampler and trainer: the engine that sampled and the engine that learns give slightly (or,
 * after updates, not so slightly) different probabilities to the same token.
 *
 *     w = min(exp(ln π_prox − ln π_b), cap)
 *
 * A constant to the gradient: it multiplies the token's loss.
 *
 * @see Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training",
 *   https://fengyao.notion.site/off-policy-rl
 */
export function truncatedImportanceWeights<T>(
  ops: TensorOps<T>,
  { proximalLogprobs, behaviorLogprobs }: ImportanceInputs<T>,
  { cap }: { readonly cap: number },
): T {
  const gap = ops.clip(ops.sub(proximalLogprobs, behaviorLogprobs), -20, 20);
  return ops.stopGradient(ops.clip(ops.exp(gap), 0, cap));
}
