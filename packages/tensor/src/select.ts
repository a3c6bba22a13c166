import { ranInKernel } from './kernel/kernel.ts';

/** `condition ? a : b`, of equal shapes. */
export function forward(condition: Float64Array, a: Float64Array, b: Float64Array, out: Float64Array): void {
  if (ranInKernel('select', [condition, a, b, out])) return;
  for (let i = 0; i < out.length; i++) out[i] = condition[i] !== 0 ? a[i]! : b[i]!;
}

/** Adds the gradient to the operand that was taken. The other gets 0, never NaN. */
export function backward(
  condition: Float64Array,
  gradient: Float64Array,
  intoA: Float64Array | undefined,
  intoB: Float64Array | undefined,
): void {
  if (intoA !== undefined && !ranInKernel('selectInto', [condition, gradient, intoA])) {
    for (let i = 0; i < intoA.length; i++) if (condition[i] !== 0) intoA[i]! += gradient[i]!;
  }
  if (intoB !== undefined && !ranInKernel('rejectInto', [condition, gradient, intoB])) {
    for (let i = 0; i < intoB.length; i++) if (condition[i] === 0) intoB[i]! += gradient[i]!;
  }
}
