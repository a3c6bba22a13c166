import type { Value } from '@rlp/onnx';
import {
  add,
  cast,
  equal,
  less,
  lessOrEqual,
  matmul,
  max,
  min,
  mul,
  pad,
  reshape,
  slice,
  sub,
  sum,
} from '@rlp/onnx/ops';

/** Tokens of a block of the vocabulary. */
const BLOCK = 256;

/**
 * Inverse-CDF draws: the token at which the running sum of probabilities exceeds `uniform · total`. Sums run over blocks of the vocabulary
 * first, and then within the block that was found. Rounding never finds a token with probability 0.
 *
 * @param probabilities - `[n, V]`
 * @param uniforms - Numbers in [0, 1), `[n, 1]`.
 * @returns Tokens, as float32, and their probabilities: `[n, 1]` each.
 */
export function drawTokens(probabilities: Value, uniforms: Value): { tokens: Value; probabilities: Value } {
  const [n, vocabulary] = probabilities.shape as [string, number];
  const count = Math.ceil(vocabulary / BLOCK);
  const padded = pad(probabilities, { axis: 1, after: count * BLOCK - vocabulary });
  const blocks = reshape(padded, [n, count, BLOCK]);
  const masses = sum(blocks, { axes: 2 });
  const sums = runningSums(masses);
  const target = mul(uniforms, slice(sums, { axis: 1, start: -1 }));
  const block = firstAbove(sums, target);
  const isBlock = oneHot(block, count);
  const inBlock = reshape(matmul(reshape(isBlock, [n, 1, count]), blocks), [n, BLOCK]);
  const before = sum(mul(isBlock, sub(sums, masses)), { axes: 1, keepAxes: 'yes' });
  const within = add(runningSums(inBlock), before);
  // The target may have been rounded below what lies before the block.
  const index = firstAbove(within, max(target, before));
  const chosen = sum(mul(oneHot(index, BLOCK), inBlock), { axes: 1, keepAxes: 'yes' });
  return { tokens: add(mul(block, BLOCK), index), probabilities: chosen };
}

/** Sums up to each column, itself included. */
function runningSums(x: Value): Value {
  const width = Number(x.shape[1]);
  const upper = Array.from({ length: width * width }, (_, at) =>
    Math.floor(at / width) <= at % width ? 1 : 0,
  );
  return matmul(x, x.graph.constant(upper, [width, width]));
}

/** Index of the first sum above the target, but at most of the first sum that equals the last one. */
function firstAbove(sums: Value, target: Value): Value {
  const last = slice(sums, { axis: 1, start: -1 });
  return min(counted(lessOrEqual(sums, target)), counted(less(sums, last)));
}

function counted(condition: Value): Value {
  return sum(cast(condition, 'float32'), { axes: 1, keepAxes: 'yes' });
}

function oneHot(index: Value, width: number): Value {
  const columns = index.graph.constant(
    Array.from({ length: width }, (_, column) => column),
    [1, width],
  );
  return cast(equal(columns, index), 'float32');
}
