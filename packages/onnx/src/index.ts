export { type Backward, customGradient } from './autodiff/custom-gradient.ts';
export { type GradientsOptions, gradients, pullback } from './autodiff/gradients.ts';
export { recompute } from './autodiff/recompute.ts';
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
  type Subgraph,
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
  elementCount,
  formatShape,
  isStatic,
  productDimension,
  type Shape,
  sameShape,
  sumDimension,
} from './graph/shape.ts';
export { bfloat16Bits, float16Bits, type TensorData } from './graph/tensor-data.ts';
export { type TraceOptions, traceOps } from './trace-ops.ts';
