/** Operators over graph values. */
export * from './ops/arithmetic.ts';
export * from './ops/comparison.ts';
export * from './ops/elementwise.ts';
export * from './ops/indexing.ts';
export * from './ops/layout.ts';
export * from './ops/loop.ts';
export * from './ops/matrix.ts';
export { applyOne, type Operand, type YesNo } from './ops/operand.ts';
export * from './ops/reduction.ts';
export {
  dimensionSize,
  expand,
  filled,
  type ReduceOptions,
  reshape,
  shapeOf,
  shapeTensor,
  sum,
  sumTo,
} from './ops/shape.ts';
export * from './ops/softmax.ts';
