import { axisOf } from '../graph/expect-values.ts';
import { defineOp, type Value } from '../graph/graph.ts';
import { mul, sub } from './arithmetic.ts';
import { exp } from './elementwise.ts';
import { applyOne, expectFloating } from './operand.ts';
import { sum } from './shape.ts';

function softmaxOver(axis: number) {
  return defineOp({
    type: 'Softmax',
    vjp: ({ outputs: [y], gradients: [gradient] }) => {
      const weighted = mul(gradient!, y!);
      return [sub(weighted, mul(y!, sum(weighted, { axes: axis, keepAxes: 'yes' })))];
    },
  });
}

/** `eˣ / Σ eˣ` along `axis` (default −1). */
export function softmax(x: Value, options: { readonly axis?: number } = {}): Value {
  expectFloating('softmax', x);
  const resolved = axisOf('softmax', x, options, -1);
  return applyOne(softmaxOver(resolved), [x], { axis: resolved }, { type: x.type, shape: x.shape });
}

function logSoftmaxOver(axis: number) {
  return defineOp({
    type: 'LogSoftmax',
    vjp: ({ outputs: [y], gradients: [gradient] }) => [
      sub(gradient!, mul(exp(y!), sum(gradient!, { axes: axis, keepAxes: 'yes' }))),
    ],
  });
}

/** `x − ln Σ eˣ` along `axis` (default −1). */
export function logSoftmax(x: Value, options: { readonly axis?: number } = {}): Value {
  expectFloating('logSoftmax', x);
  const resolved = axisOf('logSoftmax', x, options, -1);
  return applyOne(logSoftmaxOver(resolved), [x], { axis: resolved }, { type: x.type, shape: x.shape });
}
