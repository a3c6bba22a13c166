import type { ModelConfig } from '@rlp/models';
import { attentionScale, windowOf } from '@rlp/models/decoder';
import { Graph, type Value } from '@rlp/onnx';
import {
  attention,
  embedding,
  getLogits,
  type OperatorSet,
  splitHeads,
  tokenLogprobs,
  windowMask,
} from '@rlp/onnx/layers';
import { add, range, reshape } from '@rlp/onnx/ops';
import { type GraphWeights, inputStates, turnedHeads } from '../decoding/blocks.ts';

/** Options of {@link scoreGraph}. */
export interface ScoreGraphOptions extends GraphWeights {
  readonly config: ModelConfig;
  readonly contextLength: number;
  readonly ops: OperatorSet;
  /** Result for each position. */
  readonly output: 'scores' | 'logits';
}

/**
 * Whole sequences at once. The output head runs only for the wanted rows.
 *
 * Inputs, besides the parameters:
 *
 * - `tokens` and `positions`, int64 `[batch, time]`
 * - `mask`, `[time, time]`: added to attention scores
 * - `rows`, int64 `[rows]`: indices of the wanted positions among `batch · time`
 * - `targets`, int64 `[rows]`, and `temperature`, `[1, 1]`: for scores only
 *
 * Outputs: `logprobs` and `entropies` `[rows]`, or `logits` `[rows, V]`.
 */
export function scoreGraph(options: ScoreGraphOptions): Graph {
  const graph = new Graph();
  const attendAt = (positions: Value) => fullAttention(graph, options, positions);
  const { hidden, head } = inputStates(graph, options, attendAt);
  const asked = embedding(hidden, graph.input('rows', 'int64', ['rows']));
  if (options.output === 'logits') {
    graph.output('logits', getLogits(asked, head()));
    return graph;
  }
  const targets = graph.input('targets', 'int64', ['rows']);
  const temperature = graph.input('temperature', 'float32', [1, 1]);
  const scores = tokenLogprobs(asked, head(), targets, { temperature, entropies: 'needed' });
  graph.output('logprobs', scores.logprobs);
  graph.output('entropies', scores.entropies!);
  return graph;
}

function fullAttention(graph: Graph, options: ScoreGraphOptions, positions: Value) {
  const { config, ops } = options;
  const mask = graph.input('mask', 'float32', ['time', 'time']);
  const heads = turnedHeads(positions, options, ops);
  const valueHeads = { batch: 'batch', time: 'time', heads: config.keyValueHeads };
  const scale = attentionScale(config);
  const times = range(graph, 'time');
  const hideOutside = (window: number) =>
    add(mask, windowMask(reshape(times, ['time', 1]), reshape(times, [1, 'time']), window));
  const { slidingWindow } = config;
  const windowed = slidingWindow === undefined ? mask : hideOutside(slidingWindow);
  return (layer: number, query: Value, key: Value, value: Value): Value => {
    const values = splitHeads(value, valueHeads);
    const keys = heads(layer, key, config.keyValueHeads);
    return attention(heads(layer, query, config.heads), keys, values, {
      mask: windowOf(config, layer) === undefined ? mask : windowed,
      ...{ ops, scale, output: 'merged' },
    });
  };
}
