import type { HostTensor } from '@rlp/core';
import { defineOp, type ExternalData, Graph, productDimension, sumDimension, type Value } from '@rlp/onnx';
import { attention, causalMask, embedding, rotaryEmbedding, splitHeads } from '@rlp/onnx/layers';
import { add, concat, equal, gemm, neg, reshape, where } from '@rlp/onnx/ops';
import {
  attentionScale,
  type ModelConfig,
  type PositionEncoding,
  positionOf,
  windowOf,
} from '../../config/model-config.ts';
import type { DecoderBlocks } from '../../decoder/blocks.ts';
import { decoderHidden } from '../../decoder/decoder.ts';
import { headParameter } from '../../decoder/parameters.ts';
import { ropeTables } from '../../decoder/rope.ts';
import { linearLayer } from '../../decoder/training-blocks.ts';

/** Values of a parameter, or where a file has them. */
export type ParameterData = (name: string) => {
  readonly shape: HostTensor['shape'];
  readonly data: Float32Array | ExternalData;
};

const batch = 'batch_size';
const time = 'sequence_length';
const past = 'past_sequence_length';
const kept = 'kept_length';
const tokens = productDimension([batch, time]);
const total = sumDimension([past, time]);

/**
 * A decoder with a cache, under the names that transformers.js feeds and reads, from operators of the ONNX standard.
 *
 * Inputs: `input_ids` and `position_ids` int64 `[batch, time]`, `attention_mask` int64 `[batch, past + time]` with 1 for tokens that
 * count, `past_key_values.N.key` and `.value` `[batch, keyValueHeads, past, headDimension]`, and `num_logits_to_keep` int64 `[]`: tokens
 * at the end of each row that get logits, 0 for all. Rows may be padded on the left.
 *
 * Outputs: `logits` `[batch, kept, vocabulary]`, and `present.N.key` and `.value`, which are the cache of the next step.
 */
export function onnxDecoder(config: ModelConfig, parameterData: ParameterData): Graph {
  const graph = new Graph();
  const ids = graph.input('input_ids', 'int64', [batch, time]);
  const mask = graph.input('attention_mask', 'int64', [batch, total]);
  const positions = graph.input('position_ids', 'int64', [batch, time]);
  const known = new Map<string, Value>();
  const parameter = (name: string) => {
    const { shape, data } = parameterData(name);
    const value = known.get(name) ?? graph.initializer(name, 'float32', shape, data);
    known.set(name, value);
    return value;
  };
  const lookUp = (table: string, rows: Value) =>
    embedding(parameter(table), reshape(rows, [tokens]), { gradient: 'rows' });
  const blocks: DecoderBlocks = {
    ops: 'standard',
    parameter,
    embedTokens: lookUp,
    embedPositions: (table) => lookUp(table, positions),
    linear: (x, layer) => linearLayer(x, layer, parameter),
    attend: cachedAttention(config, { mask, positions }),
  };
  const last = lastTokens(decoderHidden(config, ids, blocks), config);
  const logits = gemm(last, parameter(headParameter(config)), { transposeB: 'yes' });
  graph.output('logits', reshape(logits, [batch, kept, config.vocabularySize]));
  return graph;
}

const sliceOp = defineOp({ type: 'Slice' });

/** Hidden states of the last `num_logits_to_keep` tokens of each row, or of all if that is 0. */
function lastTokens(hidden: Value, { hiddenSize }: ModelConfig): Value {
  const { graph } = hidden;
  const count = reshape(graph.input('num_logits_to_keep', 'int64', []), [1]);
  const one = (value: number) => graph.constant([value], [1], 'int64');
  const rows = reshape(hidden, [batch, time, hiddenSize]);
  const shape = [batch, kept, hiddenSize];
  const [last] = graph.apply(sliceOp, [rows, neg(count), one(2 ** 31 - 1), one(1)], {}, [
    { type: 'float32', shape },
  ]);
  return reshape(last!, [productDimension([batch, kept]), hiddenSize]);
}

interface StepValues {
  readonly mask: Value;
  readonly positions: Value;
}

function cachedAttention(config: ModelConfig, { mask, positions }: StepValues): DecoderBlocks['attend'] {
  const { graph } = mask;
  const maskOf = layerMasks(config, mask);
  const ropeOf = ropeConstants(graph, config);
  const cache = [batch, config.keyValueHeads, past, config.headDimension];
  const extended = (layer: number, kind: 'key' | 'value', added: Value) => {
    const all = concat([graph.input(`past_key_values.${layer}.${kind}`, 'float32', cache), added], 2);
    graph.output(`present.${layer}.${kind}`, all);
    return all;
  };
  return (layer, query, key, value) => {
    const rope = ropeOf(positionOf(config, layer));
    const heads = (x: Value, count: number) => {
      const wide = reshape(x, [batch, time, count * config.headDimension]);
      const turned = rope
        ? rotaryEmbedding(wide, { ...rope, heads: count, positions, ops: 'standard' })
        : wide;
      return splitHeads(turned, { batch, time, heads: count });
    };
    const keys = extended(layer, 'key', heads(key, config.keyValueHeads));
    const values = splitHeads(value, { batch, time, heads: config.keyValueHeads });
    return attention(heads(query, config.heads), keys, extended(layer, 'value', values), {
      ...{ mask: maskOf(layer), scale: attentionScale(config) },
      ...{ ops: 'standard', output: 'merged' },
    });
  };
}

/** Additive masks by layer: padding, later tokens, and what is outside of the layer's window. */
function layerMasks(config: ModelConfig, mask: Value): (layer: number) => Value {
  const { graph } = mask;
  const hidden = where(equal(mask, graph.constant(0, [], 'int64')), graph.constant(-1e30), graph.constant(0));
  const padding = reshape(hidden, [batch, 1, 1, total]);
  const masks = new Map<number | undefined, Value>();
  return (layer) => {
    const window = windowOf(config, layer);
    const found =
      masks.get(window) ?? add(padding, causalMask(graph, { queries: time, keys: total, window }));
    masks.set(window, found);
    return found;
  };
}

interface RopeConstants {
  readonly cos: Value;
  readonly sin: Value;
}

/** Rotary tables for all positions of the model, one pair for each encoding. */
function ropeConstants(
  graph: Graph,
  config: ModelConfig,
): (encoding: PositionEncoding) => RopeConstants | undefined {
  const known = new Map<PositionEncoding, RopeConstants>();
  return (encoding) => {
    if (encoding.type !== 'rotary') return undefined;
    const found = known.get(encoding);
    if (found) return found;
    const { cos, sin, shape } = ropeTables(config, config.contextLength, encoding);
    const made = { cos: graph.constant(cos, shape), sin: graph.constant(sin, shape) };
    known.set(encoding, made);
    return made;
  };
}
