import { requireArguments } from '@rlp/core';
import { expectValues } from '../graph/expect-values.ts';
import { defineOp, type OpDefinition, type Value } from '../graph/graph.ts';
import { add, div, mul, neg, sub } from './arithmetic.ts';
import { applyOne, elementwise, expectFloating, lift, type Operand, sameAsFirst } from './operand.ts';
import { sumTo } from './shape.ts';

/** An operator with one floating-point operand and `∂loss/∂x = derivative(gradient, x, y)`. */
function unary(
  type: string,
  derivative: (gradient: Value, x: Value, y: Value) => Value | undefined,
): OpDefinition {
  return defineOp({
    type,
    infer: (inputs) => {
      expectFloating(type, inputs[0]!);
      return sameAsFirst(inputs);
    },
    vjp: ({ inputs: [x], outputs: [y], gradients: [gradient] }) => [derivative(gradient!, x!, y!)],
  });
}

const identityOp = defineOp({
  type: 'Identity',
  infer: sameAsFirst,
  vjp: ({ gradients }) => [gradients[0]],
});

/** `x` as a new value. */
export function identity(x: Value): Value {
  return applyOne(identityOp, [x]);
}

const stopGradientOp = defineOp({ type: 'Identity', infer: sameAsFirst });

/** `x` without a gradient. */
export function stopGradient(x: Value): Value {
  return applyOne(stopGradientOp, [x]);
}

const signOp = defineOp({ type: 'Sign', infer: sameAsFirst });

/** Sign: −1, 0 or 1. The gradient is 0. */
export function sign(x: Value): Value {
  return applyOne(signOp, [x]);
}

const absOp = unary('Abs', (gradient, x) => mul(gradient, sign(x)));

/** `|x|`. The gradient at 0 is 0. */
export function abs(x: Value): Value {
  return applyOne(absOp, [x]);
}

/** `x²`. */
export function square(x: Value): Value {
  return mul(x, x);
}

const sqrtOp = unary('Sqrt', (gradient, _, y) => div(mul(gradient, 0.5), y));

/** `√x`. */
export function sqrt(x: Value): Value {
  return applyOne(sqrtOp, [x]);
}

const reciprocalOp = unary('Reciprocal', (gradient, _, y) => neg(mul(gradient, mul(y, y))));

/** `1 / x`. */
export function reciprocal(x: Value): Value {
  return applyOne(reciprocalOp, [x]);
}

const expOp = unary('Exp', (gradient, _, y) => mul(gradient, y));

/** `eˣ`. */
export function exp(x: Value): Value {
  return applyOne(expOp, [x]);
}

const logOp = unary('Log', (gradient, x) => div(gradient, x));

/** Natural logarithm. */
export function log(x: Value): Value {
  return applyOne(logOp, [x]);
}

const sigmoidOp = unary('Sigmoid', (gradient, _, y) => mul(gradient, mul(y, sub(1, y))));

/** `1 / (1 + e⁻ˣ)`. */
export function sigmoid(x: Value): Value {
  return applyOne(sigmoidOp, [x]);
}

const tanhOp = unary('Tanh', (gradient, _, y) => mul(gradient, sub(1, mul(y, y))));

/** Hyperbolic tangent. */
export function tanh(x: Value): Value {
  return applyOne(tanhOp, [x]);
}

const erfOp = unary('Erf', (gradient, x) => mul(gradient, mul(exp(neg(mul(x, x))), 2 / Math.sqrt(Math.PI))));

/** `2/√π ∫₀ˣ e^(−t²) dt`. */
export function erf(x: Value): Value {
  return applyOne(erfOp, [x]);
}

const softplusOp = unary('Softplus', (gradient, x) => mul(gradient, sigmoid(x)));

/** `ln(1 + eˣ)`. */
export function softplus(x: Value): Value {
  return applyOne(softplusOp, [x]);
}

const sinOp = unary('Sin', (gradient, x) => mul(gradient, cos(x)));

/** Sine. */
export function sin(x: Value): Value {
  return applyOne(sinOp, [x]);
}

const cosOp = unary('Cos', (gradient, x) => neg(mul(gradient, sin(x))));

/** Cosine. */
export function cos(x: Value): Value {
  return applyOne(cosOp, [x]);
}

const powOp = defineOp({
  type: 'Pow',
  infer: elementwise('pow'),
  vjp: ({ inputs: [base, exponent], outputs: [y], gradients: [gradient], needs }) => [
    needs[0] ? sumTo(mul(gradient!, mul(exponent!, pow(base!, sub(exponent!, 1)))), base!.shape) : undefined,
    needs[1] ? sumTo(mul(gradient!, mul(y!, log(base!))), exponent!.shape) : undefined,
  ],
});

/** `baseᵉˣᵖᵒⁿᵉⁿᵗ`. A gradient for the exponent requires a positive base. */
export function pow(base: Operand, exponent: Operand): Value {
  return applyOne(powOp, lift('pow', [base, exponent]));
}

/** Sum of values with broadcastable shapes. */
export function addAll(values: readonly [Value, ...Value[]]): Value {
  requireArguments('addAll', { values: 'list' }, values);
  const [first, ...rest] = values;
  expectValues('addAll', { first, ...rest });
  return rest.reduce((total, value) => add(total, value), first);
}
