import { ArgumentError } from '@rlp/core';
import { type Kernel, sharedKernel } from './kernel.ts';

/** How {@link computeRewardVector} adds up. */
export interface RewardVectorOptions {
  /**
   * `'auto'` (default) takes the SIMD kernel from 512 rows on, where there is one; `'kernel'` takes it always where there is one,
   * `'plain'` never. The result is the same to the last bit.
   */
  readonly acceleration?: 'auto' | 'kernel' | 'plain' | undefined;
}

/** Rows from which the kernel is faster, copies included; measured by `pnpm bench rewards`. */
const kernelPaysFrom = 512;

const columnStart = 1_245_184;
/** Five columns of it fit into the kernel's memory. */
const chunkRows = 8192;

/**
 * Weighted sum of four component columns:
 *
 *     reward_i = w_0·length_i + w_1·keyword_i + w_2·fluency_i + w_3·accuracy_i
 *
 * added from left to right in float64; a NaN in a column that has a place in the sum gives NaN.
 *
 * @param responseLengths - Length scores. Shape: `[B]`, as the next three.
 * @param weights - In the order of the columns. Shape: `[4]`.
 * @returns Shape: `[B]`.
 * @throws `ArgumentError` naming the argument that is no array of numbers or has another length.
 */
export function computeRewardVector(
  responseLengths: ArrayLike<number>,
  keywordMatches: ArrayLike<number>,
  fluencyScores: ArrayLike<number>,
  accuracyScores: ArrayLike<number>,
  weights: ArrayLike<number>,
  { acceleration = 'auto' }: RewardVectorOptions = {},
): Float64Array {
  const columns = { responseLengths, keywordMatches, fluencyScores, accuracyScores };
  for (const [name, column] of Object.entries({ ...columns, weights })) requireArray(name, column);
  for (const [name, column] of Object.entries(columns)) {
    if (column.length === responseLengths.length) continue;
    throw new ArgumentError(
      `computeRewardVector: expected ${name} to have ${responseLengths.length} entries as responseLengths does, got ${column.length}`,
    );
  }
  if (weights.length !== 4) {
    throw new ArgumentError(
      `computeRewardVector: expected 4 weights (length, keyword, fluency, accuracy), got ${weights.length}`,
    );
  }
  const list = Object.values(columns);
  if (acceleration === 'kernel' || (acceleration === 'auto' && responseLengths.length >= kernelPaysFrom)) {
    const kernel = sharedKernel();
    if (kernel !== undefined) return weighInKernel(kernel, list, weights);
  }
  return weigh(list, weights);
}

function requireArray(name: string, value: unknown): void {
  const isArray = Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value);
  if (isArray) return;
  throw new ArgumentError(
    `computeRewardVector: expected ${name} to be an array or a typed array of numbers, got ${value === null ? 'null' : typeof value}; wrap a single score in an array`,
  );
}

function weigh(columns: readonly ArrayLike<number>[], weights: ArrayLike<number>): Float64Array {
  const [a, b, c, d] = columns as [Float64Array, Float64Array, Float64Array, Float64Array];
  const [w0, w1, w2, w3] = [weights[0]!, weights[1]!, weights[2]!, weights[3]!];
  const rewards = new Float64Array(a.length);
  for (let i = 0; i < rewards.length; i++) rewards[i] = w0 * a[i]! + w1 * b[i]! + w2 * c[i]! + w3 * d[i]!;
  return rewards;
}

function weighInKernel(
  { memory, weigh: weighColumns }: Kernel,
  columns: readonly ArrayLike<number>[],
  weights: ArrayLike<number>,
): Float64Array {
  const rows = columns[0]!.length;
  const rewards = new Float64Array(rows);
  for (let start = 0; start < rows; start += chunkRows) {
    const count = Math.min(chunkRows, rows - start);
    const even = count + (count & 1);
    const area = new Float64Array(memory.buffer, columnStart, 5 * even);
    for (const [k, column] of columns.entries()) copyRows(area, k * even, column, start, count);
    weighColumns(columnStart, even, weights[0]!, weights[1]!, weights[2]!, weights[3]!);
    rewards.set(area.subarray(4 * even, 4 * even + count), start);
  }
  return rewards;
}

function copyRows(
  area: Float64Array,
  target: number,
  column: ArrayLike<number>,
  start: number,
  count: number,
): void {
  if (column instanceof Float64Array) area.set(column.subarray(start, start + count), target);
  else for (let i = 0; i < count; i++) area[target + i] = column[start + i]!;
}
