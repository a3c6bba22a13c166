import type { ForwardBackwardResult, TrainingBatch } from '@rlp/core';

/** Number of tokens with mask 1, and of all tokens. */
export function countTokens({ sequences }: TrainingBatch): ForwardBackwardResult['tokens'] {
  let [trained, total] = [0, 0];
  for (const { tokens, mask } of sequences) {
    total += tokens.length;
    for (let t = 0; t < mask.length; t++) trained += mask[t]!;
  }
  return { trained, total };
}
