import type { TokenScores, TrainingSequence } from '@rlp/core';
import type { JudgedSequence } from './preferences.ts';

/** Sums of a sequence's log-probabilities. */
export interface RowSums {
  /** Over the completion, with its factors. */
  readonly scored: number;
  /** Over the completion. */
  readonly completion: number;
  /** Over every token but the first. */
  readonly sequence: number;
}

/** A sequence with the factor of each token of its completion in `scored`. */
export interface FactoredRow extends JudgedSequence {
  /** Tokens of the completion that count in full. Later ones count `discount`. */
  readonly full: number;
  readonly discount: number;
}

/** Number of tokens with mask 1. */
export function completionTokens({ mask }: JudgedSequence): number {
  let count = 0;
  for (const value of mask) count += value;
  return count;
}

/** Sums the log-probabilities of a row. */
export function rowSums(row: FactoredRow, { logprobs }: Pick<TokenScores, 'logprobs'>): RowSums {
  let [scored, completion, sequence, seen] = [0, 0, 0, 0];
  for (let t = 1; t < logprobs.length; t++) {
    const logprob = logprobs[t]!;
    sequence += logprob;
    if (row.mask[t] === 0) continue;
    seen += 1;
    completion += logprob;
    scored += seen <= row.full ? logprob : row.discount * logprob;
  }
  return { scored, completion, sequence };
}

/**
 * The row with the weights that give cross-entropy the gradient of a loss over {@link RowSums}.
 *
 * By the chain rule the derivative by a token's log-probability is the sum of the derivatives by the sums that it is part of.
 */
export function weightedRow(row: FactoredRow, by: RowSums): TrainingSequence {
  const { tokens, full, discount } = row;
  const weights = new Float64Array(tokens.length);
  const mask = by.sequence === 0 ? row.mask : Uint8Array.from(tokens, (_, t) => Math.min(t, 1));
  let seen = 0;
  for (let t = 1; t < tokens.length; t++) {
    let derivative = by.sequence;
    if (row.mask[t] !== 0) {
      seen += 1;
      derivative += by.completion + (seen <= full ? by.scored : discount * by.scored);
    }
    weights[t] = -derivative;
  }
  return { tokens, mask, weights, columns: {} };
}

/** Mean entropy over the tokens of the completions. */
export function meanEntropy(rows: readonly JudgedSequence[], scores: readonly TokenScores[]): number {
  let [sum, count] = [0, 0];
  for (const [index, { mask }] of rows.entries()) {
    const { entropies } = scores[index]!;
    for (let t = 1; t < mask.length; t++) {
      if (mask[t] === 0) continue;
      sum += entropies[t]!;
      count += 1;
    }
  }
  return sum / count;
}
