import { type DistributionFilters, type KeptTokens, keptTokens } from './filters.ts';

/** The most likely token. Ties go to the lowest index. */
export function mostLikely(probabilities: Float32Array): number {
  let best = 0;
  for (let token = 1; token < probabilities.length; token++) {
    if (probabilities[token]! > probabilities[best]!) best = token;
  }
  return best;
}

/**
 * Inverse-CDF draw: the first token, in index order, at which the running sum of kept probabilities exceeds
 * `uniform · total`.
 *
 * @param probabilities - A distribution over the vocabulary; need not sum to 1 exactly. Shape: `[V]`.
 * @param uniform - A number in [0, 1).
 */
export function drawToken(
  probabilities: Float32Array,
  filters: DistributionFilters,
  uniform: number,
): number {
  const kept = keptTokens(probabilities, filters);
  return kept === undefined
    ? drawFromAll(probabilities, uniform)
    : drawFromKept(probabilities, kept, uniform);
}

function drawFromAll(probabilities: Float32Array, uniform: number): number {
  let sum = 0;
  let last = 0;
  for (let token = 0; token < probabilities.length; token++) {
    const probability = probabilities[token]!;
    sum += probability;
    if (sum > uniform) return token;
    if (probability > 0) last = token;
  }
  // Float32 rounding left the sum just below `uniform`.
  return last;
}

function drawFromKept(probabilities: Float32Array, kept: KeptTokens, uniform: number): number {
  const target = uniform * kept.mass;
  let remaining = kept.atFloor;
  let sum = 0;
  let last = 0;
  for (let token = 0; token < probabilities.length; token++) {
    const probability = probabilities[token]!;
    if (probability < kept.floor) continue;
    if (probability === kept.floor && remaining-- <= 0) continue;
    sum += probability;
    if (sum > target) return token;
    if (probability > 0) last = token;
  }
  return last;
}
