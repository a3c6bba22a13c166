import type { TensorOps } from '@rlp/core';
import { requireFields } from '@rlp/core';
import { customGradient } from './autodiff/custom-gradient.ts';
import { reverse } from './autodiff/reverse.ts';
import type { DataType } from './graph/data-type.ts';
import type { Graph, Value } from './graph/graph.ts';
import { broadcastShapes } from './graph/shape.ts';
import { add, div, mul, neg, sub } from './ops/arithmetic.ts';
import { cast, clip, equal, greater, greaterOrEqual, max, min, not, where } from './ops/comparison.ts';
import { abs, exp, log, sigmoid, sqrt, square, stopGradient, tanh } from './ops/elementwise.ts';
import { reduceMax } from './ops/reduction.ts';
import { expand, reshape, sum } from './ops/shape.ts';

/** Options of {@link traceOps}. */
export interface TraceOptions {
  /** Element type of the matrices. Default float32. */
  readonly type?: DataType;
}

/**
 * Like `build`, but an incoming gradient of 0 gives outgoing gradients of 0.
 *
 * Otherwise 0 · ∞ or 0 / 0 in a branch that was not taken would become NaN. Operands are first expanded to
 * one shape, so the rule holds for each element.
 */
function guarded(build: (...operands: Value[]) => Value): (...operands: Value[]) => Value {
  return (...operands) => {
    const shape = broadcastShapes(
      'TensorOps',
      operands.map((operand) => operand.shape),
    );
    const expanded = operands.map((operand) => expand(operand, shape));
    // Each value once: `mul(x, x)` must not count the gradient of `x` twice.
    const inputs = [...new Set(expanded)];
    const { graph } = inputs[0]!;
    let recorded: ReturnType<Graph['withTape']>['tape'];
    const [y] = customGradient(
      inputs,
      () => {
        const { result, tape } = graph.withTape(() => build(...expanded));
        recorded = tape;
        return [result];
      },
      ([upstream]) => {
        const silent = equal(upstream!, 0);
        const gradients = reverse(recorded, new Map([[y, upstream!]]), inputs);
        return gradients.map((gradient) => gradient && where(silent, 0, gradient));
      },
    );
    return y;
  };
}

/**
 * Core's `TensorOps` over graph values.
 *
 * A loss written over `TensorOps` becomes part of the training graph and is differentiated with it.
 */
export function traceOps(graph: Graph, options: TraceOptions = {}): TensorOps<Value> {
  const { type = 'float32' } = requireFields('traceOps: options', {}, options);
  const total = (x: Value) => reshape(sum(x), [1, 1]);
  return {
    constant: (value) => graph.constant([value], [1, 1], type),
    add,
    sub,
    mul: guarded((a, b) => mul(a!, b!)),
    div: guarded((a, b) => div(a!, b!)),
    neg,
    abs,
    square: guarded((x) => square(x!)),
    sqrt: guarded((x) => sqrt(x!)),
    exp: guarded((x) => exp(x!)),
    log: guarded((x) => log(x!)),
    sigmoid: guarded((x) => sigmoid(x!)),
    tanh: guarded((x) => tanh(x!)),
    minimum: min,
    maximum: max,
    clip,
    greater: (a, b) => cast(greater(a, b), type),
    greaterEqual: (a, b) => cast(greaterOrEqual(a, b), type),
    where: (condition, a, b) => where(not(equal(condition, 0)), a, b),
    sum: total,
    rowSum: (x) => sum(x, { axes: 1, keepAxes: 'yes' }),
    rowMax: (x) => reduceMax(x, { axes: 1, keepAxes: 'yes' }),
    stopGradient,
  };
}
