import { ArgumentError, requireArguments, requireFields } from '@rlp/core';
import { type DataType, type Dimension, type Graph, recompute, type Value } from '@rlp/onnx';
import {
  blockedAttention,
  branchedAttention,
  embedding,
  headMover,
  layoutMask,
  type OperatorSet,
  type PickedRows,
  packedAttention,
  pickRows,
  rotaryEmbedding,
  splitAttention,
  spreadRows,
  type TableGradient,
  type TokenLayout,
} from '@rlp/onnx/layers';
import { add, cast, gather, gemm, reshape } from '@rlp/onnx/ops';

import {
  attentionScale,
  type ModelConfig,
  type PositionEncoding,
  positionOf,
  windowOf,
} from '../config/model-config.ts';
import type { DecoderBlocks } from './blocks.ts';
import type { LinearLayer } from './layout.ts';
import { ropeValues } from './rope.ts';

/** Options of {@link trainingBlocks}. */
export interface TrainingBlocksOptions {
  /** Graph that the blocks add to. Required. */
  readonly graph: Graph;
  /** Shape of the decoder. Required. */
  readonly config: ModelConfig;
  /** Where the tokens lie in the rectangle that attention is computed on. Required. */
  readonly layout: TokenLayout;
  /** Rows of tokens whose hidden states are wanted. None is in the layout's stem, if it has one. Default: all. */
  readonly picked?: PickedRows;
  /** Function that returns a parameter's value. It is called once per name. Required. */
  readonly parameter: (name: string) => Value;
  /** Operators of the graph. Default `'fused'`. */
  readonly ops?: OperatorSet;
  /** What the backward pass computes again. `'layer'` stores only each layer's input. Default `'none'`. */
  readonly recompute?: 'none' | 'layer';
  /** Form of the token table's gradient; see `embedding` of `@rlp/onnx`. Default `'dense'`. */
  readonly embeddingGradient?: TableGradient;
  /** Element type of linear layers and activations. Norms, attention and the residual stream keep float32. Default float32. */
  readonly innerType?: DataType | undefined;
  /** Callback for the rows looked up in the token table. `embeddingGradient: 'rows'` needs it. Default none. */
  readonly onEmbedding?: (table: string, rows: Value) => void;
  /** Products of linear layers without their biases. `undefined` for a layer that is computed from its parameters. Default: all are. */
  readonly product?: ((x: Value, layer: LinearLayer) => Value | undefined) | undefined;
  /** Function that changes a linear layer's output `y` for the input `x`, as a LoRA adapter does. Default returns `y`. */
  readonly adapt?: (layer: LinearLayer, x: Value, y: Value) => Value;
}

/**
 * Blocks that compute whole sequences at once, from tokens `[tokens]`.
 *
 * @throws ArgumentError if the length of the layout's rows is a number beyond the model's context.
 */
export function trainingBlocks(options: TrainingBlocksOptions): DecoderBlocks {
  requireFields('trainingBlocks', { config: 'object', layout: 'object', graph: 'object' }, options);
  const { layout, config, picked, ops = 'fused', adapt = (_layer, _x, y) => y, product } = options;
  requireFields(
    'trainingBlocks: config',
    { position: 'object', contextLength: 'number', layers: 'number' },
    config,
  );
  const { contextLength } = config;
  const length = layout.slots.shape[1]!;
  if (Number(length) > contextLength) {
    throw new ArgumentError(
      `decoder: ${length} tokens do not fit the context of ${contextLength}; shorten them`,
    );
  }
  const known = new Map<string, Value>();
  const parameter = (name: string) => {
    const value = known.get(name) ?? options.parameter(name);
    known.set(name, value);
    return value;
  };
  const { innerType } = options;
  const inner = (value: Value) => (innerType ? cast(value, innerType) : value);
  const attend = picked ? attentionOfPicked(options, ops, picked) : fullAttention(options, ops);
  return {
    ops,
    innerType,
    parameter,
    embedTokens: (table, tokens) => {
      const rows = embedding(parameter(table), tokens, { gradient: options.embeddingGradient ?? 'dense' });
      options.onEmbedding?.(table, rows);
      return rows;
    },
    embedPositions: (table) => gather(parameter(table), layout.positions),
    linear: (given, layer, type = innerType ?? 'float32') => {
      const typedAs = (value: Value) => (innerType ? cast(value, type) : value);
      const x = typedAs(given);
      const own = product?.(x, layer);
      const typed = (name: string) => typedAs(parameter(name));
      return adapt(layer, x, own ? withBias(own, layer, typed) : linearLayer(x, layer, typed));
    },
    attend: (layer, ...inputs) => {
      const [query, key, value] = inputs.map((given) => (innerType ? cast(given, 'float32') : given));
      return inner(attend(layer, query!, key!, value!));
    },
    ...(picked && { pick: (x) => pickRows(x, picked) }),
    ...(options.recompute === 'layer' && {
      aroundLayer: (_layer, x, build) => recompute([x], ([input]) => [build(input!)])[0],
    }),
  };
}

/** A linear layer from its parameters: `x` `[N, inputs]` → `[N, outputs]`. */
export function linearLayer(x: Value, layer: LinearLayer, parameter: (name: string) => Value): Value {
  requireFields('linearLayer', { weight: 'text', order: 'text' }, layer);
  requireArguments('linearLayer', { parameter: 'function' }, parameter);
  const bias = layer.bias === undefined ? undefined : parameter(layer.bias);
  const transposeB = layer.order === 'out-in' ? 'yes' : 'no';
  return gemm(x, parameter(layer.weight), { transposeB, bias });
}

/** The output of a linear layer from its product. */
export function withBias(y: Value, layer: LinearLayer, parameter: (name: string) => Value): Value {
  requireFields('withBias', { weight: 'text' }, layer);
  requireArguments('withBias', { parameter: 'function' }, parameter);
  return layer.bias === undefined ? y : add(y, parameter(layer.bias));
}

/** Attention whose last layer has queries of picked rows only. Others are 0 in its rectangle and reach no result. */
function attentionOfPicked(
  options: TrainingBlocksOptions,
  ops: OperatorSet,
  picked: PickedRows,
): DecoderBlocks['attend'] {
  const attend = fullAttention(options, ops);
  return (layer, query, key, value) =>
    layer === options.config.layers - 1
      ? pickRows(attend(layer, spreadRows(query, picked), key, value, 'unread'), picked)
      : attend(layer, query, key, value);
}

function fullAttention(options: TrainingBlocksOptions, ops: OperatorSet) {
  const { config, layout } = options;
  const scale = attentionScale(config);
  const rotations = rotationsOf(options, ops);
  const windows = new Set(Array.from({ length: config.layers }, (_, layer) => windowOf(config, layer)));
  if (layout.blocks || layout.parts) {
    const { heads, keyValueHeads: keyHeads } = config;
    const attend = layout.blocks
      ? blockedAttention(layout, heads, keyHeads)
      : layout.stem
        ? branchedAttention(layout, { heads, keyHeads })
        : splitAttention(layout, { heads, keyHeads, windows });
    return (layer: number, query: Value, key: Value, value: Value, stem?: 'unread') => {
      const rotate = rotations.get(positionOf(config, layer))!;
      const turned = [rotate(query, heads), rotate(key, keyHeads)] as const;
      return attend(...turned, value, { scale, window: windowOf(config, layer), stem });
    };
  }
  const masks = new Map([...windows].map((window) => [window, layoutMask(layout, window)]));
  const queries = headMover(layout, config.heads);
  const keys = config.keyValueHeads === config.heads ? queries : headMover(layout, config.keyValueHeads);
  return (layer: number, query: Value, key: Value, value: Value) => {
    const rotate = rotations.get(positionOf(config, layer))!;
    const mask = masks.get(windowOf(config, layer))!;
    const turned = [rotate(query, config.heads), rotate(key, config.keyValueHeads)] as const;
    return packedAttention(...turned, value, { queries, keys, mask, ops, scale });
  };
}

/** Turns queries or keys `[tokens, heads · headDimension]` by their positions. */
type Rotate = (x: Value, heads: number) => Value;

/** Rotations of the layers, by position encoding. The tables are made once, outside of what is recomputed. */
function rotationsOf(
  options: TrainingBlocksOptions,
  ops: OperatorSet,
): ReadonlyMap<PositionEncoding, Rotate> {
  const { config } = options;
  const encodings = new Set([config.position, ...(config.layerPositions ?? [])]);
  return new Map([...encodings].map((encoding) => [encoding, rotation(options, ops, encoding)]));
}

function rotation(
  { graph, config, layout }: TrainingBlocksOptions,
  ops: OperatorSet,
  encoding: PositionEncoding,
): Rotate {
  if (encoding.type !== 'rotary') return (x) => x;
  const [tokens] = layout.positions.shape as [Dimension];
  const length = layout.stem ? tokens : layout.slots.shape[1]!;
  const tables = ropeValues(graph, config, length, { position: encoding, ops });
  const positions = reshape(layout.positions, [tokens, 1]);
  return (x, heads) => {
    const width = heads * config.headDimension;
    const turned = rotaryEmbedding(reshape(x, [tokens, 1, width]), { heads, ...tables, positions, ops });
    return reshape(turned, [tokens, width]);
  };
}
