import { ArgumentError } from '@rlp/core';
import { type Dimension, type Graph, productDimension, recompute, type Value } from '@rlp/onnx';
import {
  attention,
  causalMask,
  embedding,
  type OperatorSet,
  rotaryEmbedding,
  splitHeads,
  type TableGradient,
} from '@rlp/onnx/layers';
import { expand, gather, gemm, range, reshape } from '@rlp/onnx/ops';

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
  /** Rows: a number, or the name of an axis of a graph input. Required. */
  readonly batch: Dimension;
  /** Tokens per row: a number or an axis name. Shorter rows are padded on the right, hidden by the causal mask. Required. */
  readonly time: Dimension;
  /** Function that returns a parameter's value. It is called once per name. Required. */
  readonly parameter: (name: string) => Value;
  /** Operators of the graph. Default `'fused'`. */
  readonly ops?: OperatorSet;
  /** What the backward pass computes again. `'layer'` stores only each layer's input. Default `'none'`. */
  readonly recompute?: 'none' | 'layer';
  /** Form of the token table's gradient; see `embedding` of `@rlp/onnx`. Default `'dense'`. */
  readonly embeddingGradient?: TableGradient;
  /** Callback for the rows looked up in the token table. `embeddingGradient: 'rows'` needs it. Default none. */
  readonly onEmbedding?: (table: string, rows: Value) => void;
  /** Function that changes a linear layer's output `y` for the input `x`, as a LoRA adapter does. Default returns `y`. */
  readonly adapt?: (layer: LinearLayer, x: Value, y: Value) => Value;
}

/**
 * Blocks that compute whole sequences at once: full causal attention over `[batch, time]` tokens.
 *
 * @throws ArgumentError if `time` is a number beyond the model's context.
 */
export function trainingBlocks(options: TrainingBlocksOptions): DecoderBlocks {
  const { batch, time, config, ops = 'fused', adapt = (_layer, _x, y) => y } = options;
  const { contextLength } = config;
  if (Number(time) > contextLength) {
    throw new ArgumentError(
      `decoder: ${time} tokens do not fit the context of ${contextLength}; shorten them`,
    );
  }
  const tokenCount = productDimension([batch, time]);
  const known = new Map<string, Value>();
  const parameter = (name: string) => {
    const value = known.get(name) ?? options.parameter(name);
    known.set(name, value);
    return value;
  };
  return {
    ops,
    parameter,
    embedTokens: (table, tokens) => {
      const indices = reshape(tokens, [tokenCount]);
      const rows = embedding(parameter(table), indices, { gradient: options.embeddingGradient ?? 'dense' });
      options.onEmbedding?.(table, rows);
      return rows;
    },
    embedPositions: (table) => {
      const rows = gather(parameter(table), range(options.graph, time));
      return reshape(expand(rows, [batch, time, config.hiddenSize]), [tokenCount, config.hiddenSize]);
    },
    linear: (x, layer) => adapt(layer, x, linearLayer(x, layer, parameter)),
    attend: fullAttention(options, ops),
    ...(options.recompute === 'layer' && {
      aroundLayer: (_layer, x, build) => recompute([x], ([input]) => [build(input!)])[0],
    }),
  };
}

/** A linear layer from its parameters: `x` `[N, inputs]` → `[N, outputs]`. */
export function linearLayer(x: Value, layer: LinearLayer, parameter: (name: string) => Value): Value {
  const bias = layer.bias === undefined ? undefined : parameter(layer.bias);
  const transposeB = layer.order === 'out-in' ? 'yes' : 'no';
  return gemm(x, parameter(layer.weight), { transposeB, bias });
}

function fullAttention(options: TrainingBlocksOptions, ops: OperatorSet): DecoderBlocks['attend'] {
  const { config, batch, time, graph } = options;
  const scale = attentionScale(config);
  const rotations = rotationsOf(options, ops);
  const windows = new Set(Array.from({ length: config.layers }, (_, layer) => windowOf(config, layer)));
  const masks = new Map([...windows].map((window) => [window, causalMask(graph, { queries: time, window })]));
  return (layer, query, key, value) => {
    const rotate = rotations.get(positionOf(config, layer))!;
    const mask = masks.get(windowOf(config, layer))!;
    const queries = splitHeads(rotate(query, config.heads), { batch, time, heads: config.heads });
    const keyHeads = { batch, time, heads: config.keyValueHeads };
    const keys = splitHeads(rotate(key, config.keyValueHeads), keyHeads);
    return attention(queries, keys, splitHeads(value, keyHeads), { ops, mask, scale, output: 'merged' });
  };
}

/** Turns queries or keys `[B·T, heads · headDimension]` by their positions. */
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
  { graph, config, batch, time }: TrainingBlocksOptions,
  ops: OperatorSet,
  encoding: PositionEncoding,
): Rotate {
  if (encoding.type !== 'rotary') return (x) => x;
  const tables = ropeValues(graph, config, time, encoding);
  return (x, heads) => {
    const width = heads * config.headDimension;
    return rotaryEmbedding(reshape(x, [batch, time, width]), { heads, ...tables, ops });
  };
}
