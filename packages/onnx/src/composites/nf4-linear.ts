import { ArgumentError, requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { after } from '../autodiff/recompute.ts';
import { expectValues } from '../graph/expect-values.ts';
import { defineOp, type Value } from '../graph/graph.ts';
import { formatShape } from '../graph/shape.ts';
import { mul } from '../ops/arithmetic.ts';
import { cast } from '../ops/comparison.ts';
import { gather } from '../ops/indexing.ts';
import { slice } from '../ops/layout.ts';
import { gemm } from '../ops/matrix.ts';
import { applyOne } from '../ops/operand.ts';
import { reshape } from '../ops/shape.ts';
import { type QuantizedValue, quantizedBlock } from './quantized-linear.ts';

/**
 * Values of 4-bit NormalFloat: quantiles of a normal distribution, scaled to −1…1, with an exact 0.
 *
 * @see {@link https://arxiv.org/abs/2305.14314 | QLoRA}, appendix E.
 */
export const nf4Values: readonly number[] = [
  -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
  -0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725,
  0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1,
];

/** The operator's number for 4-bit NormalFloat. */
const NORMAL_FLOAT = 1;

/** On the CPU it ignores `transB: 0` (ONNX Runtime 1.30), so it serves the forward pass only. */
const productOp = defineOp({ type: 'MatMulBnb4', domain: 'com.microsoft' });

/** The two values of each byte. The first is that of the upper half. Shape: `[256, 2]`. */
const pairs = Array.from({ length: 256 }, (_, byte) => [nf4Values[byte >> 4]!, nf4Values[byte & 15]!]).flat();

/**
 * `x Wᵀ` of a frozen matrix `[outputs, inputs]` in 4-bit NormalFloat. `W` gets no gradient.
 *
 * Both passes make the matrix from its bytes again when they need it, so that one such matrix is in memory at a time.
 *
 * @param x - `[N, inputs]`
 * @param weight - Bytes `[blocks, 32]` and scales `[blocks]`, where `blocks = ⌈outputs · inputs / 64⌉`.
 * @returns `[N, outputs]`
 */
export function nf4Linear(x: Value, weight: QuantizedValue, outputs: number): Value {
  checkSizes(x, requireFields('nf4Linear: weight', {}, weight), outputs);
  const inputs = Number(x.shape[1]);
  const attributes = { K: inputs, N: outputs, block_size: quantizedBlock, quant_type: NORMAL_FLOAT };
  const result = { type: 'float32', shape: [x.shape[0]!, outputs] } as const;
  const [y] = customGradient(
    [x],
    () => [applyOne(productOp, [x, weight.bytes, weight.scales], attributes, result)],
    ([upstream]) => [gemm(upstream!, dequantized(weight, [outputs, inputs], upstream!))],
  );
  return y;
}

function checkSizes(x: Value, { bytes, scales }: QuantizedValue, outputs: number): void {
  expectValues('nf4Linear', { x, bytes, scales });
  const blocks = Math.ceil((Number(x.shape[1]) * outputs) / quantizedBlock);
  const [rows, width] = bytes.shape;
  const isMatrix = x.shape.length === 2;
  if (isMatrix && rows === blocks && width === quantizedBlock / 2 && scales.shape[0] === blocks) return;
  throw new ArgumentError(
    `nf4Linear: expected x [N, inputs], bytes [⌈${outputs} · inputs / ${quantizedBlock}⌉, ${quantizedBlock / 2}] and a scale for each row of them, got ` +
      [x, bytes, scales].map(({ shape }) => formatShape(shape)).join(', '),
  );
}

/** The matrix, only available after `before`: neither made early nor kept from pass to pass. */
function dequantized(
  { bytes, scales }: QuantizedValue,
  shape: readonly [number, number],
  before: Value,
): Value {
  const { graph } = bytes;
  const [blocks] = bytes.shape as [number];
  const codes = cast(after(bytes, before), 'int32');
  const values = reshape(gather(graph.constant(pairs, [256, 2]), codes), [blocks, quantizedBlock]);
  const filled = reshape(mul(values, reshape(scales, [blocks, 1])), [blocks * quantizedBlock]);
  const size = shape[0] * shape[1];
  return reshape(size % quantizedBlock === 0 ? filled : slice(filled, { axis: 0, end: size }), shape);
}
