import type { ModelConfig, PositionEncoding } from '@rlp/models';
import {
  type DecoderBlocks,
  decoderHidden,
  headParameter,
  type LinearLayer,
  linearLayer,
  positionOf,
  ropeTables,
  withBias,
} from '@rlp/models/decoder';
import { type DataType, type Dimension, type Graph, productDimension, type Value } from '@rlp/onnx';
import { embedding, type OperatorSet, rotaryEmbedding, splitHeads } from '@rlp/onnx/layers';
import { gemm, reshape, transpose } from '@rlp/onnx/ops';

/** Product of a linear layer: `x Wᵀ`, or `(W xᵀ)ᵀ`, which needs no repacking of the weight for few rows. */
export type LinearOrder = 'plain' | 'swapped';

/** Product of `x` `[tokens, inputs]` and a linear layer, without its bias. `undefined` for a layer that is computed from its parameters. */
export type LayerProduct = (x: Value, layer: LinearLayer) => Value | undefined;

/** Where a graph takes the weights of its model from. */
export interface GraphWeights {
  /** Makes a parameter an input or an initialiser of the graph. */
  readonly parameter: (graph: Graph, name: string) => Value;
  /** Computes the products of linear layers. Default: from their parameters. */
  readonly product?: LayerProduct | undefined;
}

/** Options of {@link decoderStates}. */
export interface DecoderStatesOptions {
  readonly config: ModelConfig;
  /** Tokens `[batch, time]`. */
  readonly tokens: Value;
  /** Position of every token `[batch, time]`. Called for models with learned positions. */
  readonly positions: () => Value;
  readonly ops: OperatorSet;
  readonly linear: LinearOrder;
  readonly weights: GraphWeights;
  readonly attend: DecoderBlocks['attend'];
}

/** Last states of a decoder, and what makes logits of them. */
export interface DecoderStates {
  /** Last hidden states `[batch · time, d]`. */
  readonly hidden: Value;
  /** The output matrix `[V, d]`. */
  readonly head: () => Value;
  /** Logits `[n, V]` of hidden states `[n, d]`. */
  readonly logits: (hidden: Value) => Value;
}

/** A decoder for inference: no gradients, sizes known at run time. */
export function decoderStates(options: DecoderStatesOptions): DecoderStates {
  const { config, tokens } = options;
  const blocks = inferenceBlocks(options);
  const layer = headLayer(config);
  return {
    hidden: decoderHidden(config, tokens, blocks),
    head: () => blocks.parameter(layer.weight),
    logits: (hidden) => blocks.linear(hidden, layer),
  };
}

/** {@link decoderStates} of the inputs `tokens` and `positions` int64 `[batch, time]`. */
export function inputStates(
  graph: Graph,
  { config, ops, ...weights }: GraphWeights & Pick<DecoderStatesOptions, 'config' | 'ops'>,
  attendAt: (positions: Value) => DecoderBlocks['attend'],
): DecoderStates {
  const tokens = graph.input('tokens', 'int64', ['batch', 'time']);
  const positions = graph.input('positions', 'int64', ['batch', 'time']);
  const attend = attendAt(positions);
  return decoderStates({
    ...{ config, tokens, positions: () => positions, ops, linear: 'plain', weights, attend },
  });
}

function inferenceBlocks(options: DecoderStatesOptions): DecoderBlocks {
  const { ops, linear, weights, positions, attend } = options;
  const { graph, shape } = options.tokens;
  const tokens = productDimension(shape);
  const known = new Map<string, Value>();
  const parameter = (name: string) => {
    const value = known.get(name) ?? weights.parameter(graph, name);
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
      const own = weights.product?.(x, layer);
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

/** The output matrix as a linear layer. */
function headLayer(config: ModelConfig): LinearLayer {
  const [inputs, outputs] = [config.hiddenSize, config.vocabularySize];
  return { weight: headParameter(config), bias: undefined, inputs, outputs, order: 'out-in' };
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
