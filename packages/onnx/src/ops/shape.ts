import { ArgumentError, requireFields } from '@rlp/core';
import type { DataType } from '../graph/data-type.ts';
import { expectGraph, expectShape, expectValues, rankOf } from '../graph/expect-values.ts';
import { defineOp, type Graph, type OpDefinition, type Value } from '../graph/graph.ts';
import {
  broadcastShapes,
  type Dimension,
  formatShape,
  isStatic,
  quotientDimension,
  resolveAxes,
  type Shape,
  sameShape,
} from '../graph/shape.ts';
import { applyOne, type YesNo } from './operand.ts';

const shapeOp = defineOp({ type: 'Shape' });
const concatShapeOp = defineOp({ type: 'Concat' });
const multiplySizesOp = defineOp({ type: 'Mul' });
const constantOfShapeOp = defineOp({ type: 'ConstantOfShape' });

/** Sizes of all axes of `x` at run time, int64 `[rank]`. */
export function shapeOf(x: Value): Value {
  return applyOne(shapeOp, [x], {}, { type: 'int64', shape: [rankOf('shapeOf', x)] });
}

/** Size of a dimension at run time, int64 `[1]`. A constant if it is a number. */
export function dimensionSize(graph: Graph, dimension: Dimension): Value {
  expectGraph('dimensionSize', graph);
  if (typeof dimension === 'number') return graph.constant([dimension], [1], 'int64');
  const source = graph.dimensions.get(dimension);
  if (source) {
    const attributes = { start: source.axis, end: source.axis + 1 };
    return applyOne(shapeOp, [source.value], attributes, { type: 'int64', shape: [1] });
  }
  const factors = dimension.split('*').map((factor) => (/^\d+$/.test(factor) ? Number(factor) : factor));
  if (factors.length > 1) {
    const sizes = factors.map((factor) => dimensionSize(graph, factor));
    return sizes.reduce((a, b) => applyOne(multiplySizesOp, [a, b], {}, { type: 'int64', shape: [1] }));
  }
  const known = [...graph.dimensions.keys()].join(', ') || 'none';
  throw new ArgumentError(`no value of the graph has a dimension "${dimension}"; known: ${known}`);
}

/** A shape as an int64 tensor `[rank]`. A constant if static, otherwise computed at run time. */
export function shapeTensor(graph: Graph, shape: Shape): Value {
  expectGraph('shapeTensor', graph);
  expectShape('shapeTensor', shape);
  if (isStatic(shape)) return graph.constant(shape, [shape.length], 'int64');
  const sizes = shape.map((dimension) => dimensionSize(graph, dimension));
  if (sizes.length === 1) return sizes[0]!;
  return applyOne(concatShapeOp, sizes, { axis: 0 }, { type: 'int64', shape: [shape.length] });
}

/** Tensor filled with one number. Default 0. */
export function filled(graph: Graph, type: DataType, shape: Shape, value = 0): Value {
  const attributes = { value: { type, tensor: value } };
  return applyOne(constantOfShapeOp, [shapeTensor(graph, shape)], attributes, { type, shape });
}

const reshapeOp = defineOp({
  type: 'Reshape',
  vjp: ({ inputs, gradients }) => [reshape(gradients[0]!, inputs[0]!.shape)],
});

/**
 * Changes the shape of `x` and keeps the order of elements. One size may be −1 and is inferred.
 *
 * @throws ArgumentError if the number of elements would change.
 */
export function reshape(x: Value, shape: Shape): Value {
  const target = resolveReshape(x, shape);
  if (sameShape(x.shape, target)) return x;
  return applyOne(reshapeOp, [x, reshapeTensor(x, target)], {}, { type: x.type, shape: target });
}

function resolveReshape(x: Value, shape: Shape): Shape {
  expectValues('reshape', { x });
  expectShape('reshape', shape);
  const known = shape.filter((dimension) => dimension !== -1);
  if (shape.length - known.length > 1) {
    throw new ArgumentError(`reshape: at most one size may be -1, got ${formatShape(shape)}`);
  }
  const rest = quotientDimension(x.shape, known);
  if (rest === undefined || (known.length === shape.length && rest !== 1 && !known.includes(0))) {
    throw new ArgumentError(
      `reshape: ${formatShape(x.shape)} does not hold the elements of ${formatShape(shape)}; both must have as many`,
    );
  }
  return shape.map((dimension) => (dimension === -1 ? rest : dimension));
}

/**
 * Target shape for ONNX's `Reshape`.
 *
 * ONNX infers one size (−1) and copies sizes from the same axis of the input (0). Only the others are
 * computed at run time.
 */
function reshapeTensor(x: Value, target: Shape): Value {
  const named = [...target.keys()].filter((axis) => typeof target[axis] === 'string');
  const inferred = named.find((axis) => x.shape[axis] !== target[axis]) ?? named[0];
  const sizes = target.map((dimension, axis) => {
    if (typeof dimension === 'number') return dimension;
    if (axis === inferred) return -1;
    return x.shape[axis] === dimension ? 0 : dimension;
  });
  if (isStatic(sizes)) return x.graph.constant(sizes, [sizes.length], 'int64');
  const parts = sizes.map((size) =>
    typeof size === 'number' ? x.graph.constant([size], [1], 'int64') : dimensionSize(x.graph, size),
  );
  return applyOne(concatShapeOp, parts, { axis: 0 }, { type: 'int64', shape: [target.length] });
}

const expandOp = defineOp({
  type: 'Expand',
  vjp: ({ inputs, gradients }) => [sumTo(gradients[0]!, inputs[0]!.shape)],
});

/** Repeats `x` along axes of size 1 and along new leading axes, up to `shape`. */
export function expand(x: Value, shape: Shape): Value {
  expectValues('expand', { x });
  expectShape('expand', shape);
  if (sameShape(x.shape, shape)) return x;
  if (!sameShape(broadcastShapes('expand', [x.shape, shape]), shape)) {
    throw new ArgumentError(
      `expand: ${formatShape(x.shape)} does not expand to ${formatShape(shape)}; each axis must be 1 or equal`,
    );
  }
  const offset = shape.length - x.shape.length;
  // Size 1 keeps an axis as it is, whatever its size at run time.
  const repeats = shape.map((dimension, axis) => (x.shape[axis - offset] === dimension ? 1 : dimension));
  return applyOne(expandOp, [x, shapeTensor(x.graph, repeats)], {}, { type: x.type, shape });
}

/** Axes that a reduction runs over. */
export interface ReduceOptions {
  /** Axes to reduce. Negative axes count from the back. Default: all. */
  readonly axes?: number | readonly number[] | undefined;
  /** Whether to keep reduced axes with size 1. Default `'no'`. */
  readonly keepAxes?: YesNo | undefined;
}

/**
 * Applies a reduction over the axes that the options select. Returns `x` if there are none.
 *
 * `reduction` gets axes counted from the front.
 */
export function reduce(
  operation: string,
  x: Value,
  options: ReduceOptions,
  define: (axes: readonly number[]) => OpDefinition,
): Value {
  const { axes: given, keepAxes = 'no' } = requireFields(`${operation}: options`, {}, options);
  const axes = resolveAxes(operation, typeof given === 'number' ? [given] : given, rankOf(operation, x));
  if (axes.length === 0) return x;
  const kept = keepAxes === 'yes';
  const shape = kept ? keptShape(x.shape, axes) : x.shape.filter((_, axis) => !axes.includes(axis));
  const axesTensor = x.graph.constant(axes, [axes.length], 'int64');
  return applyOne(define(axes), [x, axesTensor], { keepdims: kept ? 1 : 0 }, { type: x.type, shape });
}

/** Shape of a reduction's result, with the dropped axes restored as 1. */
export function keptShape(shape: Shape, axes: readonly number[]): Shape {
  return shape.map((dimension, axis) => (axes.includes(axis) ? 1 : dimension));
}

function sumOver(axes: readonly number[]) {
  return defineOp({
    type: 'ReduceSum',
    vjp: ({ inputs, gradients }) => {
      const { shape } = inputs[0]!;
      return [expand(reshape(gradients[0]!, keptShape(shape, axes)), shape)];
    },
  });
}

/** Σ of the elements along `axes`. */
export function sum(x: Value, options: ReduceOptions = {}): Value {
  return reduce('sum', x, options, sumOver);
}

/** Sums a gradient over the axes along which a value of `shape` was broadcast. */
export function sumTo(x: Value, shape: Shape): Value {
  expectValues('sumTo', { x });
  expectShape('sumTo', shape);
  if (sameShape(x.shape, shape)) return x;
  const offset = x.shape.length - shape.length;
  const axes = x.shape.flatMap((dimension, axis) => {
    const target = shape[axis - offset] ?? 1;
    return target === 1 && dimension !== 1 ? [axis] : [];
  });
  return reshape(axes.length > 0 ? sum(x, { axes, keepAxes: 'yes' }) : x, shape);
}
