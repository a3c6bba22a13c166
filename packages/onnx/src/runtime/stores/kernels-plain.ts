import type { HostKernels } from '../protocol.ts';
import { codedBlock, decode, encode } from './coded-numbers.ts';

/** {@link HostKernels.adamw} as a loop in float64, for arrays outside any store. */
export function adamw(
  { value, gradient, moment1, moment2 }: Parameters<HostKernels['adamw']>[0],
  {
    learningRate,
    beta1,
    beta2,
    epsilon,
    weightDecay,
    update,
    gradientFactor = 1,
  }: Parameters<HostKernels['adamw']>[1],
): void {
  const rate = learningRate / (1 - beta1 ** update);
  const root = 1 / Math.sqrt(1 - beta2 ** update);
  const keep = 1 - learningRate * weightDecay;
  for (let i = 0; i < value.length; i++) {
    const g = gradientFactor * gradient[i]!;
    const m = beta1 * moment1[i]! + (1 - beta1) * g;
    const v = beta2 * moment2[i]! + (1 - beta2) * g * g;
    moment1[i] = m;
    moment2[i] = v;
    value[i] = keep * value[i]! - (rate * m) / (Math.sqrt(v) * root + epsilon);
  }
}

/** {@link HostKernels.adamwCoded}, a block at a time. */
export function adamwCoded(
  { value, gradient, moment1, moment2 }: Parameters<HostKernels['adamwCoded']>[0],
  step: Parameters<HostKernels['adamw']>[1],
): void {
  for (let start = 0; start < value.length; start += codedBlock) {
    const end = Math.min(start + codedBlock, value.length);
    const [first, second] = [new Float32Array(end - start), new Float32Array(end - start)];
    decode(moment1, start, first);
    decode(moment2, start, second);
    const piece = { value: value.subarray(start, end), gradient: gradient.subarray(start, end) };
    adamw({ ...piece, moment1: first, moment2: second }, step);
    encode(moment1, start, first);
    encode(moment2, start, second);
  }
}

/** Σ x². */
export function sumOfSquares(x: Float32Array): number {
  let sum = 0;
  for (const element of x) sum += element * element;
  return sum;
}

/** y ← a·y + b·x. */
export function combine(y: Float32Array, a: number, x: Float32Array, b: number): void {
  for (let i = 0; i < y.length; i++) y[i] = a * y[i]! + b * x[i]!;
}

/** `target[indices[n]] += rows[n]` for rows of `width`. */
export function scatterAddRows(
  target: Float32Array,
  rows: Float32Array,
  indices: Int32Array | BigInt64Array,
  width: number,
): void {
  for (let n = 0; n < indices.length; n++) {
    const start = Number(indices[n]) * width;
    for (let i = 0; i < width; i++) target[start + i] = target[start + i]! + rows[n * width + i]!;
  }
}
