export { type Backward, customGradient } from './autodiff/custom-gradient.ts';
export { type GradientsOptions, gradients, pullback } from './autodiff/gradients.ts';
export { recompute } from './autodiff/recompute.ts';
export * from './composites/activation.ts';
export * from './composites/attention.ts';
export * from './composites/embedding.ts';
export * from './composites/language-head.ts';
export * from './composites/normalization.ts';
export * from './composites/rotary.ts';
export type { OperatorSet } from './composites/variant.ts';
export type { Attribute, Attributes, FloatAttribute, TensorAttribute } from './graph/attributes.ts';
export { type DataType, dataTypes, isFloating } from './graph/data-type.ts';
export {
  defineOp,
  type ExternalData,
  Graph,
  type GraphOptions,
  type Initializer,
  type Node,
  type OpDefinition,
  type TapeEntry,
  type Value,
  type ValueType,
  type Vjp,
  type VjpContext,
} from './graph/graph.ts';
export { type GraphRecord, recordGraph, replayGraph } from './graph/record.ts';
export { type SerializeOptions, serialize } from './graph/serialize.ts';
export {
  broadcastShapes,
  type Dimension,
  formatShape,
  isStatic,
  productDimension,
  type Shape,
  sameShape,
  sumDimension,
} from './graph/shape.ts';
export { bfloat16Bits, float16Bits, type TensorData } from './graph/tensor-data.ts';
export * from './ops/arithmetic.ts';
export * from './ops/comparison.ts';
export * from './ops/elementwise.ts';
export * from './ops/indexing.ts';
export * from './ops/layout.ts';
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
export { type TraceOptions, traceOps } from './trace-ops.ts';
