/** Decoders as graphs: their layout, parameters and blocks. For those who build training or sampling graphs. */
export { attentionScale, positionOf, windowOf } from './config/model-config.ts';
export type { DecoderBlocks } from './decoder/blocks.ts';
export { decoderHidden } from './decoder/decoder.ts';
export {
  type DecoderLayer,
  type DecoderLayout,
  decoderLayout,
  type ExpertsLayer,
  type FeedForwardLayer,
  type LinearLayer,
  type NormLayer,
} from './decoder/layout.ts';
export { moduleParameters } from './decoder/module-parameters.ts';
export {
  type DecoderParameter,
  headParameter,
  linearLayers,
  parameterSpecs,
} from './decoder/parameters.ts';
export {
  asInt8,
  bytesPerBlock,
  correctionNames,
  dequantizeMatrix,
  type QuantizedMatrix,
  quantizedBytes,
  quantizedNames,
  quantizedProduct,
  quantizeMatrix,
  quantizeWeights,
  storedMatrix,
} from './decoder/quantized.ts';
export { type RopeTables, ropeTables } from './decoder/rope.ts';
export { type QuantizedForm, quantizedForms } from './decoder/rounding.ts';
export {
  linearLayer,
  type TrainingBlocksOptions,
  trainingBlocks,
  withBias,
} from './decoder/training-blocks.ts';
export { firstNonFinite } from './kernel/kernel.ts';
