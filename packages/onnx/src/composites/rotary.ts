import { ArgumentError, requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { expectValues, widthOf } from '../graph/expect-values.ts';
import { defineOp, type Value } from '../graph/graph.ts';
import { formatShape } from '../graph/shape.ts';
import { add, mul, neg, sub } from '../ops/arithmetic.ts';
import { gather, range } from '../ops/indexing.ts';
import { concat, slice, split } from '../ops/layout.ts';
import { applyOne } from '../ops/operand.ts';
import { reshape } from '../ops/shape.ts';
import type { OperatorSet } from './variant.ts';

/** Options of {@link rotaryEmbedding}. */
export interface RotaryOptions {
  /** Number of heads in the last axis of `x`. Required. */
  readonly heads: number;
  /** Cosine of position × frequency, `[positions, headSize / 2]`. Required. */
  readonly cos: Value;
  /** Sine of position × frequency, `[positions, headSize / 2]`. Required. */
  readonly sin: Value;
  /** Position of every token, int64 `[batch, time]`. Default: 0, 1, 2… in every row. */
  readonly positions?: Value | undefined;
  /** Operators to build from. Default `'fused'`. */
  readonly ops?: OperatorSet;
}

const rotaryOp = defineOp({ type: 'RotaryEmbedding', domain: 'com.microsoft' });

/**
 * Rotary position embedding with split halves, as in Hugging Face's Llama.
 *
 * Component `i` of a head's first half and of its second half are rotated by the angle position ·
 * frequency_i:
 *
 *     y₁ = x₁ cos − x₂ sin,   y₂ = x₂ cos + x₁ sin
 *
 * The gradient is the rotation by the opposite angle.
 *
 * @param x - `[batch, time, heads · headSize]`
 * @see Su et al. 2021, https://arxiv.org/abs/2104.09864
 */
export function rotaryEmbedding(x: Value, options: RotaryOptions): Value {
  const width = widthOf('rotaryEmbedding', x);
  const { cos, sin, heads } = requireFields('rotaryEmbedding: options', {}, options);
  expectValues('rotaryEmbedding', { cos, sin });
  if (x.shape.length !== 3 || width % heads !== 0 || cos.shape[1] !== width / heads / 2) {
    throw new ArgumentError(
      `rotaryEmbedding: x must be [batch, time, heads · headSize] and cos [positions, headSize / 2]; got ` +
        `${formatShape(x.shape)} with ${heads} heads and ${formatShape(cos.shape)}`,
    );
  }
  const rotate = options.ops === 'standard' ? rotateStandard : rotateFused;
  const [y] = customGradient(
    [x],
    () => [rotate(x, options, sin)],
    ([upstream]) => [rotate(upstream!, options, neg(sin))],
  );
  return y;
}

function rotateFused(x: Value, { heads, cos, positions }: RotaryOptions, sin: Value): Value {
  const start = positions ?? x.graph.constant([0], [1], 'int64');
  const attributes = { interleaved: 0, num_heads: heads };
  return applyOne(rotaryOp, [x, start, cos, sin], attributes, { type: x.type, shape: x.shape });
}

function rotateStandard(x: Value, { heads, cos, positions }: RotaryOptions, sin: Value): Value {
  const [batch, time, width] = x.shape as [number, number, number];
  const size = width / heads;
  const rows = (table: Value) => {
    const picked = positions ? gather(table, positions) : firstRows(table, time);
    return reshape(picked, [positions ? batch : 1, time, 1, size / 2]);
  };
  const [cosine, sine] = [rows(cos), rows(sin)];
  const [first, second] = split(reshape(x, [batch, time, heads, size]), [size / 2, size / 2], -1);
  const turned = [sub(mul(first!, cosine), mul(second!, sine)), add(mul(second!, cosine), mul(first!, sine))];
  return reshape(concat(turned, -1), x.shape);
}

function firstRows(table: Value, time: number | string): Value {
  if (typeof time === 'number') return slice(table, { axis: 0, end: time });
  return gather(table, range(table.graph, time));
}
