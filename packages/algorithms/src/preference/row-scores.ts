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

/** Factor of each token's log-probability in each sum of {@link RowSums}. Shape of each: `[T]`. */
export function tokenFactors({ tokens, mask, full, discount }: FactoredRow) {
  const zeros = () => new Float64Array(tokens.length);
  const factors = { scored: zeros(), completion: zeros(), sequence: zeros().fill(1, 1) };
  let seen = 0;
  for (let t = 1; t < tokens.length; t++) {
    if (mask[t] === 0) continue;
    seen += 1;
    factors.completion[t] = 1;
    factors.scored[t] = seen <= full ? 1 : discount;
  }
  return factors satisfies Readonly<Record<keyof RowSums, Float64Array>>;
}

/** Sums the log-probabilities of a row. */
export function rowSums(row: FactoredRow, { logprobs }: Pick<TokenScores, 'logprobs'>): RowSums {
  const factors = tokenFactors(row);
  // A prompt that the policy thinks impossible must not reach sums over the completion as 0 · −∞.
  const sum = (of: Float64Array) =>
    of.reduce((total, factor, t) => (factor === 0 ? total : total + factor * logprobs[t]!), 0);
  return {
    scored: sum(factors.scored),
    completion: sum(factors.completion),
    sequence: sum(factors.sequence),
  };
}

/** A number at the first token that a loss reads, and 0 elsewhere. A row's sum is then the number. */
export function atFirstToken(mask: ArrayLike<number>, value: number): Float64Array {
  const first = Array.prototype.indexOf.call(mask, 1);
  return new Float64Array(mask.length).fill(value, first, first + 1);
}

/** 1 for every token of a row that a loss reads: its completion, or all but the first. */
export function readTokens({ tokens, mask }: JudgedSequence, scope: 'completion' | 'sequence') {
  return scope === 'completion' ? mask : new Uint8Array(tokens.length).fill(1, 1);
}

/**
 * The row with the weights that give cross-entropy the gradient of a loss over {@link RowSums}.
 *
 * By the chain rule the derivative by a token's log-probability is the sum of the derivatives by the sums that it is part of.
 */
export function weightedRow(row: FactoredRow, by: RowSums): TrainingSequence {
  const { scored, completion, sequence } = tokenFactors(row);
  const weights = Float64Array.from(
    row.tokens,
    (_, t) => -(by.sequence * sequence[t]! + (by.completion * completion[t]! + by.scored * scored[t]!)),
  );
  const mask = readTokens(row, by.sequence === 0 ? 'completion' : 'sequence');
  return { tokens: row.tokens, mask, weights, columns: {} };
}

/** Mean entropy over the tokens of the completions. */
export function meanEntropy(
  rows: readonly JudgedSequence[],
  entropies: readonly ArrayLike<number>[],
): number {
  let [sum, count] = [0, 0];
  for (const [index, { mask }] of rows.entries()) {
    for (let t = 1; t < mask.length; t++) {
      if (mask[t] === 0) continue;
      sum += entropies[index]![t]!;
      count += 1;
    }
  }
  return sum / count;
}
