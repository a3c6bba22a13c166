import { axisOf } from '../graph/expect-values.ts';
import { defineOp, type OpDefinition, type Value } from '../graph/graph.ts';
import { type Shape, staticElementCount } from '../graph/shape.ts';
import { div, mul } from './arithmetic.ts';
import { cast, equal } from './comparison.ts';
import { applyOne, expectFloating, type YesNo } from './operand.ts';
import { expand, keptShape, type ReduceOptions, reduce, reshape, shapeTensor, sum } from './shape.ts';

/** Number of elements along `axes` of `shape`, as a value of `like`'s type. A constant if static. */
function countAlong(like: Value, shape: Shape, axes: readonly number[]): Value {
  const sizes = axes.map((axis) => shape[axis]!);
  if (sizes.every((size) => typeof size === 'number')) {
    return like.graph.constant(staticElementCount('mean', sizes), [], like.type);
  }
  const runtime = cast(shapeTensor(like.graph, sizes), like.type);
  return applyOne(productOp, [runtime], { keepdims: 0 }, { type: like.type, shape: [] });
}

const productOp = defineOp({ type: 'ReduceProd' });

function meanOver(axes: readonly number[]): OpDefinition {
  return defineOp({
    type: 'ReduceMean',
    vjp: ({ inputs, gradients: [gradient] }) => {
      const { shape } = inputs[0]!;
      const share = div(gradient!, countAlong(gradient!, shape, axes));
      return [expand(reshape(share, keptShape(shape, axes)), shape)];
    },
  });
}

/** The mean along `axes`. */
export function mean(x: Value, options: ReduceOptions = {}): Value {
  expectFloating('mean', x);
  return reduce('mean', x, options, meanOver);
}

function extremumOver(type: 'ReduceMax' | 'ReduceMin') {
  return (axes: readonly number[]): OpDefinition =>
    defineOp({
      type,
      vjp: ({ inputs: [x], outputs: [y], gradients: [gradient] }) => {
        const kept = keptShape(x!.shape, axes);
        const winners = cast(equal(x!, reshape(y!, kept)), x!.type);
        const share = div(reshape(gradient!, kept), sum(winners, { axes, keepAxes: 'yes' }));
        return [mul(winners, share)];
      },
    });
}

/**
 * Largest element along `axes`. Equal elements share the gradient.
 *
 * ONNX Runtime ignores NaN unless it comes first.
 */
export function reduceMax(x: Value, options: ReduceOptions = {}): Value {
  return reduce('reduceMax', x, options, extremumOver('ReduceMax'));
}

/**
 * Smallest element along `axes`. Equal elements share the gradient.
 *
 * ONNX Runtime ignores NaN unless it comes first.
 */
export function reduceMin(x: Value, options: ReduceOptions = {}): Value {
  return reduce('reduceMin', x, options, extremumOver('ReduceMin'));
}

/** Options of {@link cumulativeSum}. */
export interface CumulativeSumOptions {
  /** Axis to sum along. Default −1. */
  readonly axis?: number;
  /** Direction of the sum; `'backward'` starts at the end. Default `'forward'`. */
  readonly direction?: 'forward' | 'backward';
  /** Whether each sum includes its own element. Default `'yes'`. */
  readonly inclusive?: YesNo;
}

/** Running sums along an axis: `y_t = Σ_{s ≤ t} x_s`. */
export function cumulativeSum(x: Value, options: CumulativeSumOptions = {}): Value {
  const resolved = axisOf('cumulativeSum', x, options, -1);
  const { direction = 'forward', inclusive = 'yes' } = options;
  const definition = defineOp({
    type: 'CumSum',
    vjp: ({ gradients: [gradient] }) => [
      cumulativeSum(gradient!, {
        axis: resolved,
        direction: direction === 'forward' ? 'backward' : 'forward',
        inclusive,
      }),
    ],
  });
  const attributes = { exclusive: inclusive === 'yes' ? 0 : 1, reverse: direction === 'forward' ? 0 : 1 };
  const axisTensor = x.graph.constant(resolved, [], 'int64');
  return applyOne(definition, [x, axisTensor], attributes, { type: x.type, shape: x.shape });
}

const argMaxOp = defineOp({ type: 'ArgMax' });

/**
 * Index of the first largest element along `axis` (default −1), int64. Drops the axis. Has no gradient.
 *
 * Treats NaN as {@link reduceMax} does.
 */
export function argMax(x: Value, options: { readonly axis?: number } = {}): Value {
  const resolved = axisOf('argMax', x, options, -1);
  const shape = x.shape.filter((_, index) => index !== resolved);
  return applyOne(argMaxOp, [x], { axis: resolved, keepdims: 0 }, { type: 'int64', shape });
}

const topKOp = defineOp({ type: 'TopK' });

/**
 * The `count` largest elements along `axis` (default −1), in descending order, and their int64 indices.
 *
 * Has no gradient.
 */
export function topK(
  x: Value,
  count: number,
  options: { readonly axis?: number } = {},
): { readonly values: Value; readonly indices: Value } {
  const resolved = axisOf('topK', x, options, -1);
  const shape = x.shape.map((size, index) => (index === resolved ? count : size));
  const [values, indices] = x.graph.apply(
    topKOp,
    [x, x.graph.constant([count], [1], 'int64')],
    { axis: resolved, largest: 1, sorted: 1 },
    [
      { type: x.type, shape },
      { type: 'int64', shape },
    ],
  );
  return { values: values!, indices: indices! };
}
