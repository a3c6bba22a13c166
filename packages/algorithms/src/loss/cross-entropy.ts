import type { Loss } from '@rlp/core';

/**
 * Cross-entropy with the given tokens, per token, `L = −ln π_θ`. The loss of supervised fine-tuning.
 */
export const crossEntropy: Loss<never> = {
  key: 'cross-entropy',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};

/**
 * Dynamic fine-tuning (DFT), per token, `L = −sg(π_θ) ln π_θ`: improbable tokens count less.
 *
 * @see Wu et al. 2025, equation 9, https://arxiv.org/abs/2508.05629
 */
export const dynamicFineTuning: Loss<never> = {
  key: 'dynamic-fine-tuning',
  columns: [],
  compute: (ops, { logprobs }) => ({
    tokenLosses: ops.neg(ops.mul(ops.stopGradient(ops.exp(logprobs)), logprobs)),
  }),
};

/** Losses of supervised fine-tuning, by the name of the option. */
export const sftLosses = { 'cross-entropy': crossEntropy, dft: dynamicFineTuning } as const;
