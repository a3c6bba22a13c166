import type { ModelConfig, PositionEncoding } from '@rlp/models';
import {
  type DecoderBlocks,
  type LinearLayer,
  linearLayer,
  positionOf,
  ropeTables,
  withBias,
} from '@rlp/models/decoder';
import { type DataType, type Dimension, type Graph, productDimension, type Value } from '@rlp/onnx';
import { embedding, type OperatorSet, rotaryEmbedding, splitHeads } from '@rlp/onnx/layers';
import { gemm, reshape, transpose } from '@rlp/onnx/ops';

/** How a linear layer is computed: `x Wᵀ`, or `(W xᵀ)ᵀ`, for which few rows need no repacking of the weight. */
export type LinearOrder = 'plain' | 'swapped';

/** A linear layer applied to `x` `[tokens, inputs]`, without its bias. `undefined` for one that is computed from its parameters. */
export type LayerProduct = (x: Value, layer: LinearLayer) => Value | undefined;

/** Options of {@link inferenceBlocks}. */
export interface InferenceBlocksOptions {
  readonly graph: Graph;
  readonly batch: Dimension;
  readonly time: Dimension;
  readonly parameter: (name: string) => Value;
  readonly ops: OperatorSet;
  readonly linear: LinearOrder;
  /** Computes the products of linear layers, without biases. Default: from their parameters, as `linear` says. */
  readonly product?: LayerProduct | undefined;
  /** Position of every token `[batch, time]`. Asked for by models with learned positions. */
  readonly positions: () => Value;
  readonly attend: DecoderBlocks['attend'];
}

/** Decoder blocks for inference: no gradients, sizes known at run time. */
export function inferenceBlocks(options: InferenceBlocksOptions): DecoderBlocks {
  const { batch, time, ops, linear, product, positions, attend } = options;
  const tokens = productDimension([batch, time]);
  const known = new Map<string, Value>();
  const parameter = (name: string) => {
    const value = known.get(name) ?? options.parameter(name);
    known.set(name, value);
    return value;
  };
  const lookUp = (table: string, indices: Value) => embedding(parameter(table), reshape(indices, [tokens]));
  return {
    ops,
    parameter,
    embedTokens: lookUp,
    embedPositions: (table) => lookUp(table, positions()),
    linear: (x, layer) => {
      const own = product?.(x, layer);
      if (own) return withBias(own, layer, parameter);
      return linear === 'plain' ? linearLayer(x, layer, parameter) : swappedLinear(x, layer, parameter);
    },
    attend,
  };
}

function swappedLinear(x: Value, layer: LinearLayer, parameter: (name: string) => Value): Value {
  const transposeA = layer.order === 'out-in' ? 'no' : 'yes';
  const y = transpose(gemm(parameter(layer.weight), x, { transposeA, transposeB: 'yes' }));
  return withBias(y, layer, parameter);
}

/** Logits `[n, V]` of hidden states `[n, d]` under the output matrix `[V, d]`. */
export function outputLogits(hidden: Value, head: Value, linear: LinearOrder): Value {
  return linear === 'plain'
    ? gemm(hidden, head, { transposeB: 'yes' })
    : transpose(gemm(head, hidden, { transposeB: 'yes' }));
}

/** Splits a layer's queries or keys `[batch · time, heads · headDimension]` into heads, turned by their positions. */
export type TurnHeads = (layer: number, x: Value, heads: number) => Value;

/**
 * Heads `[batch, heads, time, headDimension]` of tokens at `positions` `[batch, time]`, below `contextLength`. Only layers with
 * rotary positions turn them.
 */
export function turnedHeads(
  positions: Value,
  { config, contextLength }: { readonly config: ModelConfig; readonly contextLength: number },
  ops: OperatorSet,
  type: DataType = 'float32',
): TurnHeads {
  const ropeOf = ropeConstants(positions.graph, config, contextLength, type);
  const [batch, time] = positions.shape as [Dimension, Dimension];
  return (layer, x, heads) => {
    const rope = ropeOf(layer);
    const wide = reshape(x, [batch, time, heads * config.headDimension]);
    const turned = rope ? rotaryEmbedding(wide, { ...rope, heads, positions, ops }) : wide;
    return splitHeads(turned, { batch, time, heads });
  };
}

/** Rotary tables of a layer as constants of the graph. */
interface RopeConstants {
  readonly cos: Value;
  readonly sin: Value;
}

/** Rotary tables by layer, one pair for each encoding. `undefined` for a layer without rotary positions. */
export function ropeConstants(
  graph: Graph,
  config: ModelConfig,
  positions: number,
  type: DataType = 'float32',
): (layer: number) => RopeConstants | undefined {
  const known = new Map<PositionEncoding, RopeConstants>();
  return (layer) => {
    const encoding = positionOf(config, layer);
    if (encoding.type !== 'rotary') return undefined;
    const found = known.get(encoding);
    if (found) return found;
    const { cos, sin, shape } = ropeTables(config, positions, encoding);
    const made = { cos: graph.constant(cos, shape, type), sin: graph.constant(sin, shape, type) };
    known.set(encoding, made);
    return made;
  };
}
