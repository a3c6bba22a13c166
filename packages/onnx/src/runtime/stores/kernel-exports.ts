import type { HostKernels } from '../protocol.ts';

/** Constants of an update by AdamW, as the kernel takes them. */
type AdamwConstants = [
  beta1: number,
  rest1: number,
  beta2: number,
  rest2: number,
  rate: number,
  root: number,
  epsilon: number,
  keep: number,
  factor: number,
];

/** Functions of `kernels.wat`. Arrays are addresses in bytes. */
export interface KernelExports {
  adamw(p: number, g: number, m: number, v: number, n: number, ...constants: AdamwConstants): void;
  sumOfSquares(x: number, n: number): number;
  combine(y: number, x: number, n: number, a: number, b: number): void;
  decode(codes: number, out: number, n: number, values: number, scale: number): void;
  encode(
    ...given: [
      x: number,
      codes: number,
      n: number,
      first: number,
      borders: number,
      smallest: number,
      count: number,
    ]
  ): number;
}

/** Kernels over one memory. */
export interface Instance {
  readonly buffer: ArrayBuffer;
  readonly exports: KernelExports;
  /** Start of the memory, which no array uses. */
  readonly scratch: Float32Array;
}

/** Options of an update by AdamW. */
export type AdamwStep = Parameters<HostKernels['adamw']>[1];

export function adamwConstants(step: AdamwStep): AdamwConstants {
  const { learningRate, beta1, beta2, epsilon, weightDecay, update, gradientFactor = 1 } = step;
  return [
    beta1,
    1 - beta1,
    beta2,
    1 - beta2,
    learningRate / (1 - beta1 ** update),
    1 / Math.sqrt(1 - beta2 ** update),
    epsilon,
    1 - learningRate * weightDecay,
    gradientFactor,
  ];
}
