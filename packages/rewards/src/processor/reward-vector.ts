import { ArgumentError, requireArguments } from '@rlp/core';

/**
 * Weighted sum of four component columns:
 *
 *     reward_i = w_0·length_i + w_1·keyword_i + w_2·fluency_i + w_3·accuracy_i
 *
 * The sum runs from left to right in float64. A NaN in a column gives NaN.
 *
 * @param responseLengths - Length scores. Shape: `[B]`, as the next three.
 * @param weights - In the order of the columns. Shape: `[4]`.
 * @returns Shape: `[B]`.
 * @throws ArgumentError naming the argument that is not an array of numbers or has another length.
 */
export function computeRewardVector(
  responseLengths: ArrayLike<number>,
  keywordMatches: ArrayLike<number>,
  fluencyScores: ArrayLike<number>,
  accuracyScores: ArrayLike<number>,
  weights: ArrayLike<number>,
): Float64Array {
  const columns = { responseLengths, keywordMatches, fluencyScores, accuracyScores };
  for (const [name, column] of Object.entries({ ...columns, weights }))
    requireArguments('computeRewardVector', { [name]: 'list' }, column);
  for (const [name, column] of Object.entries(columns)) {
    if (column.length === responseLengths.length) continue;
    throw new ArgumentError(
      `computeRewardVector: expected ${name} to have ${responseLengths.length} entries as responseLengths does, got ${column.length}`,
    );
  }
  if (weights.length !== 4)
    throw new ArgumentError(
      `computeRewardVector: expected 4 weights (length, keyword, fluency, accuracy), got ${weights.length}`,
    );
  const [w0, w1, w2, w3] = [weights[0]!, weights[1]!, weights[2]!, weights[3]!];
  return Float64Array.from({ length: responseLengths.length }, (_, row) => {
    const ofText = w0 * responseLengths[row]! + w1 * keywordMatches[row]!;
    return ofText + w2 * fluencyScores[row]! + w3 * accuracyScores[row]!;
  });
}
