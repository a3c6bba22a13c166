import { ArgumentError, requireArguments } from '@rlp/core';
import { axisOf, rankOf } from '../graph/expect-values.ts';

import { defineOp, type Value } from '../graph/graph.ts';
import {
  formatShape,
  resolveAxes,
  resolveAxis,
  type Shape,
  staticDimension,
  sumDimension,
} from '../graph/shape.ts';
import { applyOne, expectSameType } from './operand.ts';
import { filled, reshape } from './shape.ts';

/** Removes `axes`, which must have size 1. */
export function squeeze(x: Value, axes: number | readonly number[]): Value {
  const dropped = resolveAxes('squeeze', typeof axes === 'number' ? [axes] : axes, rankOf('squeeze', x));
  if (dropped.some((axis) => x.shape[axis] !== 1)) {
    throw new ArgumentError(
      `squeeze: axes [${dropped.join(', ')}] of ${formatShape(x.shape)} must have size 1`,
    );
  }
  return reshape(
    x,
    x.shape.filter((_, axis) => !dropped.includes(axis)),
  );
}

/** Adds axes of size 1. `axes` are positions in the result. */
export function unsqueeze(x: Value, axes: number | readonly number[]): Value {
  const list = typeof axes === 'number' ? [axes] : axes;
  requireArguments('unsqueeze', { axes: 'list' }, list);
  const rank = rankOf('unsqueeze', x) + list.length;
  const added = resolveAxes('unsqueeze', list, rank);
  const rest = [...x.shape];
  const shape = Array.from({ length: rank }, (_, axis) => (added.includes(axis) ? 1 : rest.shift()!));
  return reshape(x, shape);
}

function isPermutation(order: readonly number[], rank: number): boolean {
  return (
    order.length === rank && new Set(order).size === rank && order.every((axis) => axis >= 0 && axis < rank)
  );
}

function transposeBy(order: readonly number[]) {
  return defineOp({
    type: 'Transpose',
    vjp: ({ gradients: [gradient] }) => [
      transpose(
        gradient!,
        order.map((_, axis) => order.indexOf(axis)),
      ),
    ],
  });
}

/** Reorders axes: axis `i` of the result is axis `order[i]` of `x`. Default: swaps the last two. */
export function transpose(x: Value, order?: readonly number[]): Value {
  const rank = rankOf('transpose', x);
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  requireArguments('transpose', { order: 'numbers?' }, order);
  const permutation = order ?? [...axes.slice(0, -2), rank - 1, rank - 2];
  if (!isPermutation(permutation, rank)) {
    throw new ArgumentError(
      `transpose: [${permutation.join(', ')}] is not an order of the axes of ${formatShape(x.shape)}; name each axis once`,
    );
  }
  if (permutation.every((axis, index) => axis === index)) return x;
  const shape = permutation.map((axis) => x.shape[axis]!);
  return applyOne(transposeBy(permutation), [x], { perm: permutation }, { type: x.type, shape });
}

function expectSameButAxis(operation: string, values: readonly Value[], axis: number): void {
  const first = values[0]!.shape;
  for (const { shape } of values) {
    if (
      shape.length === first.length &&
      shape.every((size, index) => index === axis || size === first[index])
    )
      continue;
    throw new ArgumentError(
      `${operation}: ${formatShape(shape)} and ${formatShape(first)} must agree in every axis but ${axis}`,
    );
  }
}

function concatAlong(axis: number) {
  return defineOp({
    type: 'Concat',
    vjp: ({ inputs, gradients: [gradient] }) => {
      const sizes = inputs.map((input) =>
        staticDimension('concat gradient', input!.shape, input!.shape[axis]),
      );
      return split(gradient!, sizes, axis);
    },
  });
}

/** Concatenates values along `axis`. The gradient needs static sizes along it. */
export function concat(values: readonly Value[], axis: number): Value {
  requireArguments('concat', { values: 'list' }, values);
  const [first] = values;
  if (!first) throw new ArgumentError('concat: needs at least one value');
  if (values.length === 1) return first;
  const resolved = resolveAxis('concat', axis, rankOf('concat', first));
  expectSameType('concat', values);
  expectSameButAxis('concat', values, resolved);
  const total = sumDimension(values.map(({ shape }) => shape[resolved]!));
  const shape = first.shape.map((size, index) => (index === resolved ? total : size));
  return applyOne(concatAlong(resolved), values, { axis: resolved }, { type: first.type, shape });
}

function splitAlong(axis: number) {
  return defineOp({
    type: 'Split',
    vjp: ({ outputs, gradients }) => {
      const parts = outputs.map(
        ({ graph, type, shape }, index) => gradients[index] ?? filled(graph, type, shape),
      );
      return [concat(parts, axis)];
    },
  });
}

/** Splits `x` along `axis` into consecutive parts. `sizes` must add up to the axis. */
export function split(x: Value, sizes: readonly number[], axis: number): readonly Value[] {
  const resolved = resolveAxis('split', axis, rankOf('split', x));
  const size = staticDimension('split', x.shape, x.shape[resolved]);
  if (sizes.reduce((total, part) => total + part, 0) !== size) {
    throw new ArgumentError(
      `split: parts of ${sizes.join(' + ')} do not fill axis ${axis} of ${formatShape(x.shape)}; they must add up to it`,
    );
  }
  if (sizes.length === 1) return [x];
  const withSize = (part: number): Shape =>
    x.shape.map((other, index) => (index === resolved ? part : other));
  return x.graph.apply(
    splitAlong(resolved),
    [x, x.graph.constant(sizes, [sizes.length], 'int64')],
    { axis: resolved },
    sizes.map((part) => ({ type: x.type, shape: withSize(part) })),
  );
}

function padAlong(axis: number, before: number, size: number) {
  return defineOp({
    type: 'Pad',
    vjp: ({ gradients: [gradient] }) => [slice(gradient!, { axis, start: before, end: before + size })],
  });
}

/** Options of {@link pad}. */
export interface PadOptions {
  /** Axis to pad. Negative counts from the back. Required. */
  readonly axis: number;
  /** Elements added in front. Default 0. */
  readonly before?: number;
  /** Elements added behind. Default 0. */
  readonly after?: number;
  /** Value of the added elements. Default 0. */
  readonly value?: number;
}

/** Pads `x` along one axis. */
export function pad(x: Value, options: PadOptions): Value {
  const resolved = axisOf('pad', x, options);
  const { before = 0, after = 0, value = 0 } = options;
  const size = staticDimension('pad', x.shape, x.shape[resolved]);
  if (before < 0 || after < 0)
    throw new ArgumentError(`pad: expected counts of at least 0, got ${before} and ${after}`);
  if (before === 0 && after === 0) return x;
  const shape = x.shape.map((other, index) => (index === resolved ? size + before + after : other));
  const zeros = x.shape.map(() => 0);
  const amounts = [...zeros.with(resolved, before), ...zeros.with(resolved, after)];
  const { graph, type } = x;
  const inputs = [x, graph.constant(amounts, [amounts.length], 'int64'), graph.constant(value, [], type)];
  return applyOne(padAlong(resolved, before, size), inputs, {}, { type, shape });
}

function sliceAlong(axis: number, start: number, end: number, size: number) {
  return defineOp({
    type: 'Slice',
    vjp: ({ gradients: [gradient] }) => [pad(gradient!, { axis, before: start, after: size - end })],
  });
}

/** Range of an axis to keep. */
export interface SliceOptions {
  /** Axis to slice. Negative counts from the back. Required. */
  readonly axis: number;
  /** First element kept. Negative counts from the end. Default 0. */
  readonly start?: number;
  /** End of the range, exclusive. Negative counts from the end. Default: the size of the axis. */
  readonly end?: number;
}

/** Elements `start … end − 1` along one axis. Its size must be a number. */
export function slice(x: Value, options: SliceOptions): Value {
  const resolved = axisOf('slice', x, options);
  const { start = 0, end } = options;
  const size = staticDimension('slice', x.shape, x.shape[resolved]);
  const first = start < 0 ? size + start : start;
  const last = end === undefined ? size : end < 0 ? size + end : end;
  if (!(first >= 0 && first <= last && last <= size)) {
    throw new ArgumentError(
      `slice: [${start}, ${end ?? size}) lies outside axis ${options.axis} of ${formatShape(x.shape)}; expected 0 ≤ start ≤ end ≤ ${size}`,
    );
  }
  if (first === 0 && last === size) return x;
  const shape = x.shape.map((other, index) => (index === resolved ? last - first : other));
  const constants = [[first], [last], [resolved]].map((list) => x.graph.constant(list, [1], 'int64'));
  return applyOne(sliceAlong(resolved, first, last, size), [x, ...constants], {}, { type: x.type, shape });
}
