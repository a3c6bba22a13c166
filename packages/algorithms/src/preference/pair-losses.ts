import type { TensorOps } from '@rlp/core';

/** What a loss over pairs reads. Each is `[B, 1]`: one number per pair. */
export interface PairInputs<T> {
  /** `ln π(chosen | prompt)`, summed over the completion's tokens. Carries the gradient, as `rejected` does. */
  readonly chosen: T;
  readonly rejected: T;
  /** The same under the reference policy. 0 if the loss reads no reference. */
  readonly referenceChosen: T;
  readonly referenceRejected: T;
  /** Tokens of the completions. */
  readonly chosenTokens: T;
  readonly rejectedTokens: T;
  /** `chosen` without the discount of `lengthDiscount`, and mean tokens of a chosen completion of the batch. Carries a gradient. */
  readonly completion: T;
  readonly meanCompletionTokens: T;
  /** Log-probability of the chosen sequence with its prompt, and mean tokens but the first. Carries a gradient. */
  readonly sequence: T;
  readonly meanSequenceTokens: T;
}

/** f-divergence between policy and reference, whose derivative scores a completion. */
export type PreferenceDivergence =
  | 'reverse-kl'
  | 'forward-kl'
  | 'jensen-shannon'
  | { readonly alpha: number };

/** `−ln σ(x)`, exact for large `|x|`. */
export function negativeLogSigmoid<T>(ops: TensorOps<T>, x: T): T {
  const tail = ops.log(ops.add(ops.constant(1), ops.exp(ops.neg(ops.abs(x)))));
  return ops.add(ops.maximum(ops.neg(x), ops.constant(0)), tail);
}

/** `x` times a number. */
export function scaled<T>(ops: TensorOps<T>, factor: number, x: T): T {
  return ops.mul(ops.constant(factor), x);
}

/** Smoothed logistic loss `−(1 − ε) ln σ(x) − ε ln σ(−x)`. */
export function smoothedLogistic<T>(ops: TensorOps<T>, x: T, smoothing: number): T {
  const kept = negativeLogSigmoid(ops, x);
  if (smoothing === 0) return kept;
  const flipped = negativeLogSigmoid(ops, ops.neg(x));
  return ops.add(scaled(ops, 1 - smoothing, kept), scaled(ops, smoothing, flipped));
}

/** Policy minus reference: `ln π − ln π_ref` of chosen and rejected. */
export function logRatios<T>(
  ops: TensorOps<T>,
  inputs: PairInputs<T>,
): { readonly chosen: T; readonly rejected: T } {
  return {
    chosen: ops.sub(inputs.chosen, inputs.referenceChosen),
    rejected: ops.sub(inputs.rejected, inputs.referenceRejected),
  };
}

/**
 * Scores `f′(π/π_ref)` of chosen and rejected.
 *
 * With `r = ln π − ln π_ref`: reverse KL `r`, forward KL `1 − e^{−r}`, Jensen–Shannon `ln 2 + ln σ(r)`, alpha
 * `(e^{(α−1)r} − 1)/(α − 1)` with an exponent of at most 80.
 *
 * @see Wang et al. 2023, f-DPO, https://arxiv.org/abs/2309.16240
 */
export function divergenceScores<T>(
  ops: TensorOps<T>,
  inputs: PairInputs<T>,
  divergence: PreferenceDivergence,
): { readonly chosen: T; readonly rejected: T } {
  const { chosen, rejected } = logRatios(ops, inputs);
  const score = (ratio: T) => divergenceScore(ops, ratio, divergence);
  return { chosen: score(chosen), rejected: score(rejected) };
}

function divergenceScore<T>(ops: TensorOps<T>, ratio: T, divergence: PreferenceDivergence): T {
  if (divergence === 'reverse-kl') return ratio;
  if (divergence === 'forward-kl') return ops.sub(ops.constant(1), ops.exp(ops.neg(ratio)));
  if (divergence === 'jensen-shannon') {
    return ops.sub(ops.constant(Math.LN2), negativeLogSigmoid(ops, ratio));
  }
  const power = divergence.alpha - 1;
  if (Math.abs(power) < 1e-6) return ratio;
  const exponent = ops.clip(scaled(ops, power, ratio), Number.NEGATIVE_INFINITY, 80);
  return scaled(ops, 1 / power, ops.sub(ops.exp(exponent), ops.constant(1)));
}

/**
 * Negative log-likelihood of the chosen tokens. Its mean over the pairs is the mean over all tokens of the batch.
 *
 * @param scope - `'completion'`, or `'sequence'` to imitate the prompt too.
 */
export function imitationLoss<T>(
  ops: TensorOps<T>,
  inputs: PairInputs<T>,
  scope: 'completion' | 'sequence',
): T {
  const [logprobs, tokens] =
    scope === 'completion'
      ? [inputs.completion, inputs.meanCompletionTokens]
      : [inputs.sequence, inputs.meanSequenceTokens];
  return ops.neg(ops.div(logprobs, tokens));
}

/** `ln(1 − eˣ)` for `x < 0`. */
function log1mexp<T>(ops: TensorOps<T>, x: T): T {
  return ops.log(ops.sub(ops.constant(1), ops.exp(x)));
}

/**
 * ORPO's log odds ratio of mean log-probabilities, `ln (p_c/(1 − p_c)) − ln (p_r/(1 − p_r))`.
 *
 * @see Hong et al. 2024, equations 4 and 7, https://arxiv.org/abs/2403.07691
 */
export function logOddsRatio<T>(ops: TensorOps<T>, inputs: PairInputs<T>): T {
  const chosen = ops.div(inputs.chosen, inputs.chosenTokens);
  const rejected = ops.div(inputs.rejected, inputs.rejectedTokens);
  const odds = (x: T) => ops.sub(x, log1mexp(ops, x));
  return ops.sub(odds(chosen), odds(rejected));
}
