import { ArgumentError, requireArguments } from '@rlp/core';

/**
 * Size of one axis: a number, or a name if it is known only at run time.
 *
 * Axes with the same name have the same size. Different names are assumed to differ in size. A named axis is
 * assumed not to be 1.
 */
export type Dimension = number | string;

/** Sizes of all axes, outermost first. `[]` is a scalar. */
export type Shape = readonly Dimension[];

/** A shape as text, for error messages: `[batch, 4]`. */
export function formatShape(shape: Shape): string {
  requireArguments('formatShape', { shape: 'list' }, shape);
  return `[${shape.join(', ')}]`;
}

/** Whether two shapes agree in every axis, by number or by name. */
export function sameShape(a: Shape, b: Shape): boolean {
  requireArguments('sameShape', { a: 'list', b: 'list' }, a, b);
  return a.length === b.length && a.every((dimension, axis) => dimension === b[axis]);
}

/** Whether every axis is a number. */
export function isStatic(shape: Shape): shape is readonly number[] {
  requireArguments('isStatic', { shape: 'list' }, shape);
  return shape.every((dimension) => typeof dimension === 'number');
}

/** Number of elements of a tensor of this shape. 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  requireArguments('elementCount', { shape: 'numbers' }, shape);
  return shape.reduce((count, size) => count * size, 1);
}

/**
 * {@link elementCount} of a shape that must be static.
 *
 * @throws ArgumentError if an axis is named. The message gives its name.
 */
export function staticElementCount(operation: string, shape: Shape): number {
  return elementCount(shape.map((dimension) => staticDimension(operation, shape, dimension)));
}

/** Returns `dimension` as a number. Throws an ArgumentError if it is a name. */
export function staticDimension(operation: string, shape: Shape, dimension: Dimension | undefined): number {
  if (typeof dimension === 'number') return dimension;
  throw new ArgumentError(
    `${operation}: dimension "${dimension}" of ${formatShape(shape)} must be a number here; build the graph with its size`,
  );
}

/** Converts an axis to its index from the front. Negative axes count from the back. */
export function resolveAxis(operation: string, axis: number | undefined, rank: number): number {
  if (axis !== undefined && Number.isInteger(axis) && axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  throw new ArgumentError(
    `${operation}: axis ${axis} is outside a tensor of ${rank} axes, expected ${-rank} to ${rank - 1}`,
  );
}

/** Converts axes to indices from the front, in ascending order. `undefined` means all axes. */
export function resolveAxes(operation: string, axes: readonly number[] | undefined, rank: number): number[] {
  if (axes === undefined) return Array.from({ length: rank }, (_, axis) => axis);
  requireArguments(operation, { axes: 'numbers' }, axes);
  const resolved = Array.from(axes, (axis) => resolveAxis(operation, axis, rank)).sort((a, b) => a - b);
  if (new Set(resolved).size === resolved.length) return resolved;
  throw new ArgumentError(`${operation}: axes [${axes.join(', ')}] must name each axis once`);
}

function broadcastDimensions(a: Dimension, b: Dimension): Dimension | undefined {
  if (a === b || b === 1) return a;
  return a === 1 ? b : undefined;
}

/**
 * Shape that all operands broadcast to. Axes are aligned from the back.
 *
 * @throws ArgumentError naming the operation and the operand that does not fit.
 */
export function broadcastShapes(operation: string, shapes: readonly Shape[]): Shape {
  requireArguments('broadcastShapes', { shapes: 'list' }, shapes);
  return shapes.reduce((left, right, index) => {
    const rank = Math.max(left.length, right.length);
    return Array.from({ length: rank }, (_, axis) => {
      const a = left[axis - rank + left.length] ?? 1;
      const b = right[axis - rank + right.length] ?? 1;
      const size = broadcastDimensions(a, b);
      if (size !== undefined) return size;
      throw new ArgumentError(
        `${operation}: operand ${index} of shape ${formatShape(right)} does not broadcast with ${formatShape(left)}: ` +
          `"${a}" and "${b}" differ and neither is 1`,
      );
    });
  });
}

function splitFactors(dimensions: readonly Dimension[]): { size: number; names: string[] } {
  let size = 1;
  const names: string[] = [];
  for (const dimension of dimensions) {
    if (typeof dimension === 'number') size *= dimension;
    else {
      for (const factor of dimension.split('*')) {
        if (/^\d+$/.test(factor)) size *= Number(factor);
        else names.push(factor);
      }
    }
  }
  return { size, names: names.sort() };
}

/** Size of several axes merged into one, such as `8*batch`. */
export function productDimension(dimensions: readonly Dimension[]): Dimension {
  requireArguments('productDimension', { dimensions: 'list' }, dimensions);
  const { size, names } = splitFactors(dimensions);
  if (names.length === 0 || size === 0) return size;
  return size === 1 ? names.join('*') : [size, ...names].join('*');
}

/** `product(total) / product(known)`, or `undefined` if it is not an integer or a name remains. */
export function quotientDimension(
  total: readonly Dimension[],
  known: readonly Dimension[],
): Dimension | undefined {
  const numerator = splitFactors(total);
  const denominator = splitFactors(known);
  for (const name of denominator.names) {
    const position = numerator.names.indexOf(name);
    if (position < 0) return undefined;
    numerator.names.splice(position, 1);
  }
  const size = numerator.size / denominator.size;
  return Number.isInteger(size) ? productDimension([size, ...numerator.names]) : undefined;
}

/** Size of several axes concatenated, such as `past+time`. */
export function sumDimension(dimensions: readonly Dimension[]): Dimension {
  requireArguments('sumDimension', { dimensions: 'list' }, dimensions);
  const names: string[] = [];
  let size = 0;
  for (const dimension of dimensions) {
    if (typeof dimension === 'number') size += dimension;
    else names.push(dimension);
  }
  if (names.length === 0) return size;
  const named = names.sort().join('+');
  return size === 0 ? named : `${named}+${size}`;
}
