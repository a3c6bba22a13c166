import { requireFields, type TensorOps } from '@rlp/core';

/** Divisor of a mean over a sequence, which is at least 1, or the count plus a number. */
export type CountFloor =
  | 'at-least-one'
  | {
      /** Added to the token count (verl has 1e-8). */
      readonly plus: number;
    };

/** @throws ArgumentError for what divides nothing. */
export function requireCountFloor(owner: string, floor: CountFloor = 'at-least-one'): void {
  if (floor !== 'at-least-one') requireFields(`${owner}: countFloor`, { plus: 'number' }, floor);
}

/** `x` where the mask is not 0, else 0. Never NaN, and no gradient. `[B, T]` */
export function masked<T>(ops: TensorOps<T>, x: T, mask: T): T {
  return ops.where(mask, x, ops.constant(0));
}

/** Sum over the tokens of each sequence that count, `[B, 1]`. */
export function maskedRowSum<T>(ops: TensorOps<T>, x: T, mask: T): T {
  return ops.rowSum(masked(ops, x, mask));
}

/** Mean over the tokens of each sequence that count, `[B, 1]`. It is 0 where none does. */
export function maskedRowMean<T>(ops: TensorOps<T>, x: T, mask: T, floor: CountFloor = 'at-least-one'): T {
  const count = ops.rowSum(mask);
  const divisor =
    floor === 'at-least-one' ? ops.maximum(count, ops.constant(1)) : ops.add(count, ops.constant(floor.plus));
  return ops.div(maskedRowSum(ops, x, mask), divisor);
}

/** 1 − condition: `not` of a 0-or-1 tensor. */
export function not<T>(ops: TensorOps<T>, condition: T): T {
  return ops.sub(ops.constant(1), condition);
}

/** −1, 0 or 1. No gradient. */
export function sign<T>(ops: TensorOps<T>, x: T): T {
  const zero = ops.constant(0);
  return ops.sub(ops.greater(x, zero), ops.greater(zero, x));
}

/** `x` limited to `[−bound, bound]`. `x` itself if the bound is infinite. */
export function limit<T>(ops: TensorOps<T>, x: T, bound: number): T {
  return Number.isFinite(bound) ? ops.clip(x, -bound, bound) : x;
}
