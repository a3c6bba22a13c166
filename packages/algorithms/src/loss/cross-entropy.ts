import type { Loss } from '@rlp/core';

/**
 * Cross-entropy with the given tokens, per token, `L = −ln π_θ`. The loss of supervised fine-tuning.
 */
export const crossEntropy: Loss<never> = {
  key: 'cross-entropy',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
