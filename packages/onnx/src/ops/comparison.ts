import { ArgumentError, requireChoice } from '@rlp/core';
import { type DataType, dataTypes, isFloating } from '../graph/data-type.ts';
import { expectValues } from '../graph/expect-values.ts';
import { defineOp, type OpDefinition, type Value } from '../graph/graph.ts';
import { broadcastShapes } from '../graph/shape.ts';
import { mul } from './arithmetic.ts';
import { applyOne, elementwise, expectSameType, lift, type Operand, sameAsFirst } from './operand.ts';
import { sumTo } from './shape.ts';

function toBool(type: string): OpDefinition {
  const infer = elementwise(type);
  return defineOp({
    type,
    infer: (inputs, attributes) => [{ type: 'bool', shape: infer(inputs, attributes)[0]!.shape }],
  });
}

const greaterOp = toBool('Greater');
const greaterOrEqualOp = toBool('GreaterOrEqual');
const lessOp = toBool('Less');
const lessOrEqualOp = toBool('LessOrEqual');
const equalOp = toBool('Equal');
const andOp = toBool('And');
const orOp = toBool('Or');
const notOp = toBool('Not');
const isNanOp = toBool('IsNaN');

/** `a > b`, as bool. */
export function greater(a: Operand, b: Operand): Value {
  return applyOne(greaterOp, lift('greater', [a, b]));
}

/** `a ≥ b`, as bool. */
export function greaterOrEqual(a: Operand, b: Operand): Value {
  return applyOne(greaterOrEqualOp, lift('greaterOrEqual', [a, b]));
}

/** `a < b`, as bool. */
export function less(a: Operand, b: Operand): Value {
  return applyOne(lessOp, lift('less', [a, b]));
}

/** `a ≤ b`, as bool. */
export function lessOrEqual(a: Operand, b: Operand): Value {
  return applyOne(lessOrEqualOp, lift('lessOrEqual', [a, b]));
}

/** `a = b`, as bool. */
export function equal(a: Operand, b: Operand): Value {
  return applyOne(equalOp, lift('equal', [a, b]));
}

function expectBool(operation: string, values: readonly Value[]): void {
  expectValues(operation, values);
  const other = values.find(({ type }) => type !== 'bool');
  if (other) throw new ArgumentError(`${operation}: "${other.name}" must be bool, got ${other.type}`);
}

/** Logical and. */
export function and(a: Value, b: Value): Value {
  expectBool('and', [a, b]);
  return applyOne(andOp, [a, b]);
}

/** Logical or. */
export function or(a: Value, b: Value): Value {
  expectBool('or', [a, b]);
  return applyOne(orOp, [a, b]);
}

/** Logical not. */
export function not(x: Value): Value {
  expectBool('not', [x]);
  return applyOne(notOp, [x]);
}

/** Whether each element is NaN, as bool. */
export function isNan(x: Value): Value {
  return applyOne(isNanOp, [x]);
}

const castOp = defineOp({
  type: 'Cast',
  vjp: ({ inputs: [x], gradients: [gradient] }) =>
    isFloating(x!.type) ? [cast(gradient!, x!.type)] : [undefined],
});

/** Converts `x` to another element type. Gradients flow between floating-point types. */
export function cast(x: Value, type: DataType): Value {
  expectValues('cast', { x });
  requireChoice('cast', 'type', type, Object.keys(dataTypes));
  if (x.type === type) return x;
  return applyOne(castOp, [x], { to: dataTypes[type].code }, { type, shape: x.shape });
}

const whereOp = defineOp({
  type: 'Where',
  infer: (inputs) => {
    const [condition, a, b] = inputs as [Value, Value, Value];
    return [{ type: a.type, shape: broadcastShapes('where', [condition.shape, a.shape, b.shape]) }];
  },
  vjp: ({ inputs: [condition, a, b], gradients: [gradient], needs }) => [
    undefined,
    needs[1] ? sumTo(where(condition!, gradient!, 0), a!.shape) : undefined,
    needs[2] ? sumTo(where(condition!, 0, gradient!), b!.shape) : undefined,
  ],
});

/** `a` if `condition` (bool) is true, else `b`, by element. The branch not taken gets gradient 0. */
export function where(condition: Value, a: Operand, b: Operand): Value {
  expectBool('where', [condition]);
  const [left, right] = lift('where', [a, b]);
  expectSameType('where', [left, right]);
  return applyOne(whereOp, [condition, left, right]);
}

/** Gradient of the operand that `wins`. If both are equal, each gets half. */
function shareOfWinner(gradient: Value, wins: Value, ties: Value): Value {
  return where(wins, gradient, where(ties, mul(gradient, 0.5), 0));
}

function extremum(type: 'Min' | 'Max', wins: (a: Value, b: Value) => Value): OpDefinition {
  return defineOp({
    type,
    infer: elementwise(type),
    vjp: ({ inputs, gradients: [gradient], needs }) => {
      const [a, b] = inputs as [Value, Value];
      const ties = equal(a, b);
      return [
        needs[0] ? sumTo(shareOfWinner(gradient!, wins(a, b), ties), a.shape) : undefined,
        needs[1] ? sumTo(shareOfWinner(gradient!, wins(b, a), ties), b.shape) : undefined,
      ];
    },
  });
}

const minOp = extremum('Min', less);
const maxOp = extremum('Max', greater);

/** Smaller of two values, by element. Equal values share the gradient. */
export function min(a: Operand, b: Operand): Value {
  return applyOne(minOp, lift('min', [a, b]));
}

/** Larger of two values, by element. Equal values share the gradient. */
export function max(a: Operand, b: Operand): Value {
  return applyOne(maxOp, lift('max', [a, b]));
}

const reluOp = defineOp({
  type: 'Relu',
  infer: sameAsFirst,
  vjp: ({ inputs: [x], gradients: [gradient] }) => [where(greater(x!, 0), gradient!, 0)],
});

/** `max(x, 0)`. The gradient at 0 is 0. */
export function relu(x: Value): Value {
  return applyOne(reluOp, [x]);
}

const clipOp = (low: number, high: number): OpDefinition => ({
  type: 'Clip',
  infer: sameAsFirst,
  vjp: ({ inputs: [x], gradients: [gradient] }) => {
    const above = low > -Infinity ? where(greaterOrEqual(x!, low), gradient!, 0) : gradient!;
    return [high < Infinity ? where(lessOrEqual(x!, high), above, 0) : above];
  },
});

/** Limits `x` to `[low, high]`. Bounds may be infinite. The gradient is 1 inside and at the bounds, else 0. */
export function clip(x: Value, low: number, high: number): Value {
  expectValues('clip', { x });
  if (!(low <= high)) throw new ArgumentError(`clip: low must be at most high, got ${low} and ${high}`);
  if (low === Infinity || high === -Infinity) {
    throw new ArgumentError(`clip: nothing lies between ${low} and ${high}, expected low ≤ high`);
  }
  // Infinite bounds are stored too: without a bound, ONNX Runtime clips to the largest finite number.
  const bounds = [low, high].map((limit) =>
    Number.isFinite(limit) || isFloating(x.type) ? x.graph.constant(limit, [], x.type) : undefined,
  );
  return applyOne(clipOp(low, high), [x, ...bounds]);
}
