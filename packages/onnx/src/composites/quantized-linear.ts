import { ArgumentError, requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { after } from '../autodiff/recompute.ts';
import { expectValues } from '../graph/expect-values.ts';
import { defineOp, type Value } from '../graph/graph.ts';
import { formatShape } from '../graph/shape.ts';
import { slice } from '../ops/layout.ts';
import { gemm } from '../ops/matrix.ts';
import { applyOne } from '../ops/operand.ts';
import { expand, reshape } from '../ops/shape.ts';

/** Inputs of a linear layer in 8 bits that share one scale. */
export const quantizedBlock = 64;

/** The byte that stands for 0. */
export const quantizedZero = 128;

/** A matrix `[outputs, inputs]` in 8 bits: `w = scale · (byte − 128)`. */
export interface QuantizedValue {
  /** uint8 `[outputs · blocks, 64]`, where `blocks = ⌈inputs / 64⌉`. */
  readonly bytes: Value;
  /** `[outputs · blocks]` */
  readonly scales: Value;
}

const dequantizeOp = defineOp({ type: 'DequantizeLinear' });

/**
 * `x Wᵀ` of a frozen matrix in 8 bits. `W` gets no gradient.
 *
 * Both passes make the matrix from its bytes again when they need it, so that one such matrix is in memory at a time.
 *
 * @param x - `[N, inputs]`
 * @returns `[N, outputs]`
 */
export function quantizedLinear(x: Value, weight: QuantizedValue): Value {
  checkSizes(x, requireFields('quantizedLinear: weight', {}, weight));
  const inputs = Number(x.shape[1]);
  const [y] = customGradient(
    [x],
    () => [gemm(x, dequantized(weight, inputs, x), { transposeB: 'yes' })],
    ([upstream]) => [gemm(upstream!, dequantized(weight, inputs, upstream!))],
  );
  return y;
}

function checkSizes(x: Value, { bytes, scales }: QuantizedValue): void {
  expectValues('quantizedLinear', { x, bytes, scales });
  const blocks = Math.ceil(Number(x.shape[1]) / quantizedBlock);
  const [rows, width] = bytes.shape;
  const fits =
    x.shape.length === 2 &&
    width === quantizedBlock &&
    scales.shape[0] === rows &&
    Number(rows) % blocks === 0;
  if (fits) return;
  throw new ArgumentError(
    `quantizedLinear: expected x [N, inputs], bytes [outputs · ⌈inputs / ${quantizedBlock}⌉, ${quantizedBlock}] and a scale for each row of them, got ` +
      [x, bytes, scales].map(({ shape }) => formatShape(shape)).join(', '),
  );
}

/** The matrix `[outputs, inputs]`, only available after `before`: neither made early nor kept from pass to pass. */
function dequantized({ bytes, scales }: QuantizedValue, inputs: number, before: Value): Value {
  const { graph } = bytes;
  const [rows] = bytes.shape as [number];
  const blocks = Math.ceil(inputs / quantizedBlock);
  const zeros = expand(graph.constant([quantizedZero], [1], 'uint8'), [rows]);
  const operands = [bytes, after(scales, before), zeros];
  const filled = applyOne(dequantizeOp, operands, { axis: 0 }, { type: 'float32', shape: bytes.shape });
  const matrix = reshape(filled, [rows / blocks, blocks * quantizedBlock]);
  return inputs % quantizedBlock === 0 ? matrix : slice(matrix, { axis: 1, start: 0, end: inputs });
}
