import { defineOp, type Value } from '../graph/graph.ts';
import { resolveAxis } from '../graph/shape.ts';
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
export function softmax(x: Value, { axis = -1 }: { readonly axis?: number } = {}): Value {
  expectFloating('softmax', x);
  const resolved = resolveAxis('softmax', axis, x.shape.length);
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
export function logSoftmax(x: Value, { axis = -1 }: { readonly axis?: number } = {}): Value {
  expectFloating('logSoftmax', x);
  const resolved = resolveAxis('logSoftmax', axis, x.shape.length);
  return applyOne(logSoftmaxOver(resolved), [x], { axis: resolved }, { type: x.type, shape: x.shape });
}
