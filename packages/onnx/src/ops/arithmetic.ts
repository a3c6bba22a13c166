import { defineOp, type Value } from '../graph/graph.ts';
import { applyOne, elementwise, lift, type Operand, sameAsFirst } from './operand.ts';
import { sumTo } from './shape.ts';

const addOp = defineOp({
  type: 'Add',
  infer: elementwise('add'),
  vjp: ({ inputs: [a, b], gradients: [gradient], needs }) => [
    needs[0] ? sumTo(gradient!, a!.shape) : undefined,
    needs[1] ? sumTo(gradient!, b!.shape) : undefined,
  ],
});

/** `a + b`. */
export function add(a: Operand, b: Operand): Value {
  return applyOne(addOp, lift('add', [a, b]));
}

const subOp = defineOp({
  type: 'Sub',
  infer: elementwise('sub'),
  vjp: ({ inputs: [a, b], gradients: [gradient], needs }) => [
    needs[0] ? sumTo(gradient!, a!.shape) : undefined,
    needs[1] ? neg(sumTo(gradient!, b!.shape)) : undefined,
  ],
});

/** `a − b`. */
export function sub(a: Operand, b: Operand): Value {
  return applyOne(subOp, lift('sub', [a, b]));
}

const mulOp = defineOp({
  type: 'Mul',
  infer: elementwise('mul'),
  vjp: ({ inputs: [a, b], gradients: [gradient], needs }) => [
    needs[0] ? sumTo(mul(gradient!, b!), a!.shape) : undefined,
    needs[1] ? sumTo(mul(gradient!, a!), b!.shape) : undefined,
  ],
});

/** `a · b`, element by element. */
export function mul(a: Operand, b: Operand): Value {
  return applyOne(mulOp, lift('mul', [a, b]));
}

const divOp = defineOp({
  type: 'Div',
  infer: elementwise('div'),
  vjp: ({ inputs: [a, b], outputs: [y], gradients: [gradient], needs }) => {
    const quotient = div(gradient!, b!);
    return [
      needs[0] ? sumTo(quotient, a!.shape) : undefined,
      needs[1] ? neg(sumTo(mul(quotient, y!), b!.shape)) : undefined,
    ];
  },
});

/** `a / b`. */
export function div(a: Operand, b: Operand): Value {
  return applyOne(divOp, lift('div', [a, b]));
}

const negOp = defineOp({
  type: 'Neg',
  infer: sameAsFirst,
  vjp: ({ gradients: [gradient] }) => [neg(gradient!)],
});

/** `−x`. */
export function neg(x: Value): Value {
  return applyOne(negOp, [x]);
}
