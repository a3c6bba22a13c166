import type { QuantizedMatrix } from '@rlp/models/decoder';
import { defineOp, type Value } from '@rlp/onnx';
import { quantizedBlock } from '@rlp/onnx/layers';
import type { WeightFile } from './weight-file.ts';

/** Products of activations in 8 bits, as accurate as the weights are. */
const ACCURACY_LEVEL = 4;

const productOp = defineOp({ type: 'MatMulNBits', domain: 'com.microsoft' });

/** `x Wᵀ` of a quantized matrix, which becomes part of the graph. */
export function bakedProduct(x: Value, name: string, matrix: QuantizedMatrix, file: WeightFile): Value {
  const { outputs, inputs, bytes, scales } = matrix;
  const { graph } = x;
  const blocks = scales.length / outputs;
  const weight = graph.initializer(
    `${name}.int8`,
    'uint8',
    [outputs, blocks, quantizedBlock],
    file.place(bytes),
  );
  const factors = graph.initializer(`${name}.scales`, 'float32', [scales.length], scales);
  const attributes = {
    K: inputs,
    N: outputs,
    bits: 8,
    block_size: quantizedBlock,
    accuracy_level: ACCURACY_LEVEL,
  };
  const declared = [{ type: 'float32' as const, shape: [x.shape[0]!, outputs] }];
  return graph.apply(productOp, [x, weight, factors], attributes, declared)[0]!;
}
