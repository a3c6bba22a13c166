import { type HostTensor, numbersOf, type Weights } from '@rlp/core';
import type { ModelConfig } from '../../config/model-config.ts';
import { type DecoderLayer, decoderLayout, type LinearLayer, type NormLayer } from '../../decoder/layout.ts';
import { ropeFrequencies } from '../../decoder/rope.ts';
import { blockSize, type GgufType } from './quantize.ts';
import type { GgufTensor } from './write-gguf.ts';

/** How a tensor's rows are ordered. Llama's kernels rotate neighbouring elements, others the two halves of a head. */
type RowOrder = 'as-is' | 'interleaved';

/** Tensors of a model under llama.cpp's names, in the order of the forward pass. */
export function ggufTensors(
  config: ModelConfig,
  weights: Weights,
  type: GgufType,
  order: RowOrder,
): GgufTensor[] {
  const layout = decoderLayout(config);
  const tensor = (name: string, source: string, heads = 0): GgufTensor => {
    const { shape } = weights.get(source)!;
    return {
      ...{ name, shape, type: typeOf(shape, type) },
      values: () => rows(weights.get(source)!, heads),
    };
  };
  const headsOf = (heads: number) => (order === 'interleaved' ? heads : 0);
  return [
    tensor('token_embd.weight', layout.embedding),
    ...ropeFactors(config),
    ...layout.layers.flatMap((layer, index) =>
      layerNames(layer, {
        query: headsOf(config.heads),
        key: headsOf(config.keyValueHeads),
      }).map(({ name, source, heads }) => tensor(`blk.${index}.${name}`, source, heads)),
    ),
    tensor('output_norm.weight', layout.finalNorm.weight),
    ...(layout.head === layout.embedding ? [] : [tensor('output.weight', layout.head)]),
  ];
}

/** Vectors stay exact. Rows that are not whole blocks become halves, as llama.cpp's converter has it. */
function typeOf(shape: readonly number[], type: GgufType): GgufType {
  if (shape.length === 1) return 'F32';
  return type === 'Q8_0' && shape.at(-1)! % blockSize !== 0 ? 'F16' : type;
}

interface TensorName {
  readonly name: string;
  readonly source: string;
  readonly heads: number;
}

function layerNames(
  layer: DecoderLayer,
  { query, key }: { readonly query: number; readonly key: number },
): TensorName[] {
  const linear = (name: string, given: LinearLayer | undefined, heads = 0): TensorName[] =>
    given === undefined
      ? []
      : [
          { name: `${name}.weight`, source: given.weight, heads },
          ...(given.bias === undefined ? [] : [{ name: `${name}.bias`, source: given.bias, heads }]),
        ];
  const norm = (name: string, given: NormLayer | undefined): TensorName[] =>
    given === undefined ? [] : [{ name: `${name}.weight`, source: given.weight, heads: 0 }];
  const { attentionInputs, feedForward } = layer;
  const halves = 'router' in feedForward ? undefined : feedForward;
  return [
    ...norm('attn_norm', layer.attentionNorm),
    ...linear('attn_q', attentionInputs[0], query),
    ...linear('attn_k', attentionInputs[1], key),
    ...linear('attn_v', attentionInputs[2]),
    ...norm('attn_q_norm', layer.queryNorm),
    ...norm('attn_k_norm', layer.keyNorm),
    ...linear('attn_output', layer.attentionOutput),
    ...norm('ffn_norm', layer.feedForwardNorm),
    ...linear('ffn_gate', halves?.inputs[0]),
    ...linear('ffn_up', halves?.inputs[1]),
    ...linear('ffn_down', halves?.down),
  ];
}

/** The values, with the two halves of each head interleaved if `heads` is not 0. */
function rows(tensor: HostTensor, heads: number): Float32Array {
  const { shape } = tensor;
  const data = numbersOf(tensor);
  if (heads === 0) return data;
  const width = shape.length === 1 ? 1 : shape[1]!;
  const size = shape[0]! / heads;
  const half = size / 2;
  const ordered = new Float32Array(data.length);
  for (let row = 0; row < shape[0]!; row++) {
    const within = row % size;
    const from = row - within + (within % 2) * half + Math.floor(within / 2);
    ordered.set(data.subarray(from * width, (from + 1) * width), row * width);
  }
  return ordered;
}

/** Divisors of the rotary frequencies, for the scaling that llama.cpp has no formula of. */
function ropeFactors({ position, headDimension }: ModelConfig): GgufTensor[] {
  if (position.type !== 'rotary' || position.scaling.type !== 'llama3') return [];
  const plain = ropeFrequencies(position.theta, { type: 'none' }, headDimension);
  const scaled = ropeFrequencies(position.theta, position.scaling, headDimension);
  const factors = Float32Array.from(plain, (frequency, index) => frequency / scaled[index]!);
  return [{ name: 'rope_freqs.weight', shape: [factors.length], type: 'F32', values: () => factors }];
}
