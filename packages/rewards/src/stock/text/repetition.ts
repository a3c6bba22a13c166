import { wordsOf } from '@rlp/answers/text';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { plainText } from '../../shared/plain-text.ts';
import { countNgrams } from '../../shared/text.ts';
import { sampledTokens } from './length-shaping.ts';

const schema = z.strictObject({
  /** Size of the n-grams. Default 3. */
  size: z.int().min(1).max(64).default(3),
  /** Reward of a response that only repeats itself. Default -1. */
  penalty: z.number().nonpositive().default(-1),
  /** Sampled tokens (TRL), or words in lower case (open-r1), as a reader sees them. A response without tokens is a failure. Default `'tokens'`. */
  unit: z.enum(['tokens', 'words']).default('tokens'),
});

/** Options of {@link repetitionPenalty}. */
export interface RepetitionPenaltyOptions extends z.input<typeof schema> {}

/**
 * The share of n-grams that repeat an earlier one, times a penalty; 0 for a response shorter than an n-gram. Copies with other marks differ:
 *
 *     r = (1 − different n-grams / n-grams) · penalty
 *
 * @see Yeo et al. 2025, appendix B, https://arxiv.org/abs/2502.03373; TRL and open-r1 `get_repetition_penalty_reward`
 */
export function repetitionPenalty<Metadata = unknown>(
  options: RepetitionPenaltyOptions = {},
): RewardFunction<Metadata> {
  const { size, penalty, unit } = parseOptions('repetitionPenalty', schema, options);
  return (trajectory) => {
    const items =
      unit === 'tokens'
        ? sampledTokens('repetitionPenalty', trajectory, "take unit: 'words'")
        : wordsOf(plainText(trajectory.response).text.toLowerCase());
    // 0, not −0, if nothing repeats.
    return repeatedShare(items, size) * penalty + 0;
  };
}

/** Share of the n-grams, or of `fewest` where there are less, that repeat an earlier one. */
export function repeatedShare(items: readonly (string | number)[], size: number, fewest = 1): number {
  const { total, unique } = countNgrams(items, size);
  return (total - unique) / Math.max(total, fewest);
}

const diversitySchema = z
  .strictObject({
    /** Sizes of the n-grams. Default `[1, 2, 3]`. */
    sizes: z.array(z.int().min(1).max(64)).min(1).readonly().default([1, 2, 3]),
    /** Weights of the sizes. Default 0.2, 0.3, 0.5, and 0 for further ones. */
    weights: z.array(z.number().nonnegative()).readonly().optional(),
  })
  .transform(({ sizes, weights = sizes.map((_, k) => [0.2, 0.3, 0.5][k] ?? 0) }) => ({ sizes, weights }))
  .refine(({ sizes, weights }) => weights.length === sizes.length && weights.some((weight) => weight > 0), {
    path: ['weights'],
    message: 'must be one per size, not all 0',
  });

/** Options of {@link ngramDiversity}. */
export interface NgramDiversityOptions extends z.input<typeof diversitySchema> {}

/**
 * The weighted mean, over n-gram sizes, of the share of different n-grams among a response's words in lower case; 0 for a blank
 * response. A size that a short response has no n-grams of counts as fully diverse with weight 1, unnormalised, as in reward-kit: it
 * can lift the sum above 1.
 *
 * @see https://github.com/fw-ai-external/reward-kit `diversity_reward`
 */
export function ngramDiversity<Metadata = unknown>(
  options: NgramDiversityOptions = {},
): RewardFunction<Metadata> {
  const { sizes, weights } = parseOptions('ngramDiversity', diversitySchema, options);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return ({ response }) => {
    const words = wordsOf(response.toLowerCase());
    if (words.length === 0) return 0;
    return sizes.reduce((sum, size, k) => {
      const grams = countNgrams(words, size);
      return sum + (grams.total === 0 ? 1 : (grams.unique / grams.total) * (weights[k]! / total));
    }, 0);
  };
}
