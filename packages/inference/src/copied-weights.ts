import type { ModelConfig } from '@rlp/models';
import { linearLayers, parameterSpecs, quantizedBytes } from '@rlp/models/decoder';
import type { ResolvedOnnxSamplerOptions } from './onnx-sampler-options.ts';

/** Bytes that a session takes for each byte of a matrix in 8 bits: measured with models of 120 to 490 MiB. */
const rearranged = 1.4;

/** Bytes of host memory of the weights that sessions copy. None if they read them in place, or hold the copy on a device. */
export function copiedWeightBytes(
  config: ModelConfig,
  weights: ResolvedOnnxSamplerOptions['weights'],
): number {
  if (weights === 'packed') {
    const counts = parameterSpecs(config).map(({ shape }) =>
      shape.reduce((product, size) => product * size, 1),
    );
    return Float32Array.BYTES_PER_ELEMENT * counts.reduce((sum, count) => sum + count, 0);
  }
  if (weights !== 'int8') return 0;
  const head = { inputs: config.hiddenSize, outputs: config.vocabularySize, order: 'out-in' } as const;
  const matrices = [...linearLayers(config), head].map((layer) => quantizedBytes(layer, 'int8'));
  return rearranged * matrices.reduce((sum, bytes) => sum + bytes, 0);
}
