import { ArgumentError } from '@rlp/core';
import {
  attention,
  embedding,
  expand,
  type Graph,
  gemm,
  mergeHeads,
  type OperatorSet,
  recompute,
  reshape,
  rotaryEmbedding,
  slice,
  splitHeads,
  type TableGradient,
  type Value,
} from '@rlp/onnx';

import { type ModelConfig, maximumSequenceLength } from '../config/model-config.ts';
import type { DecoderBlocks } from './blocks.ts';
import type { LinearLayer } from './layout.ts';
import { ropeTables } from './rope.ts';

/** Options of {@link trainingBlocks}. */
export interface TrainingBlocksOptions {
  readonly graph: Graph;
  readonly config: ModelConfig;
  /** Rows. */
  readonly batch: number;
  /** Tokens per row; shorter rows are padded on the right, where a causal mask keeps them from being seen. */
  readonly time: number;
  /** A parameter's value, by name; remembered, so it is called once per name. */
  readonly parameter: (name: string) => Value;
  /** Default `'fused'`. */
  readonly ops?: OperatorSet;
  /** `'layer'` keeps only each layer's input and computes its inside again in the backward pass. Default `'none'`. */
  readonly recompute?: 'none' | 'layer';
  /** How the token table gets its gradient; see `embedding` of `@rlp/onnx`. Default `'dense'`. */
  readonly embeddingGradient?: TableGradient;
  /** Told the rows that were looked up in the token table, which `embeddingGradient: 'rows'` needs. */
  readonly onEmbedding?: (table: string, rows: Value) => void;
  /** Changes a linear layer's output `y` for the input `x`, as a low-rank adapter does. Default: `y`. */
  readonly adapt?: (layer: LinearLayer, x: Value, y: Value) => Value;
}

/**
 * Blocks that compute whole sequences at once: full causal attention over `[batch, time]` tokens.
 *
 * @throws ArgumentError if `time` is longer than the model computes exactly; see `maximumSequenceLength`.
 */
export function trainingBlocks(options: TrainingBlocksOptions): DecoderBlocks {
  const { batch, time, config, ops = 'fused', adapt = (_layer, _x, y) => y } = options;
  const longest = maximumSequenceLength(config);
  if (time > longest) {
    const window = config.slidingWindow === longest ? 'sliding window' : 'context';
    throw new ArgumentError(`decoder: ${time} tokens do not fit the ${window} of ${longest}; shorten them`);
  }
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
      const indices = reshape(tokens, [batch * time]);
      const rows = embedding(parameter(table), indices, { gradient: options.embeddingGradient ?? 'dense' });
      options.onEmbedding?.(table, rows);
      return rows;
    },
    embedPositions: (table) => {
      const rows = slice(parameter(table), { axis: 0, end: time });
      return reshape(expand(rows, [batch, time, config.hiddenSize]), [batch * time, config.hiddenSize]);
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
  const rotate = rotation(graph, config, batch, time, ops);
  return (_layer, query, key, value) => {
    const queries = splitHeads(rotate(query, config.heads), { batch, time, heads: config.heads });
    const keyHeads = { batch, time, heads: config.keyValueHeads };
    const keys = splitHeads(rotate(key, config.keyValueHeads), keyHeads);
    return mergeHeads(attention(queries, keys, splitHeads(value, keyHeads), { ops }));
  };
}

/** Turns queries or keys `[B·T, heads · headDimension]` by their positions; the identity where positions are learned. */
function rotation(
  graph: Graph,
  config: ModelConfig,
  batch: number,
  time: number,
  ops: OperatorSet,
): (x: Value, heads: number) => Value {
  if (config.position.type === 'learned') return (x) => x;
  const tables = ropeTables(config, time);
  const cos = graph.constant(tables.cos, tables.shape);
  const sin = graph.constant(tables.sin, tables.shape);
  return (x, heads) => {
    const width = heads * config.headDimension;
    return rotaryEmbedding(reshape(x, [batch, time, width]), { heads, cos, sin, ops });
  };
}
