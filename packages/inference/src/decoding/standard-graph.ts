import type { ModelConfig } from '@rlp/models';
import { attentionScale, windowOf } from '@rlp/models/decoder';
import { Graph, sumDimension, type Value } from '@rlp/onnx';
import { attention, embedding, splitHeads, windowMask } from '@rlp/onnx/layers';
import { add, concat, expand, range, reshape } from '@rlp/onnx/ops';
import { type GraphWeights, inputStates, turnedHeads } from './blocks.ts';
import { cacheNames } from './fused-graph.ts';
import { addStepOutputs } from './step-outputs.ts';

/** Options of {@link standardGraph}. */
export interface StandardGraphOptions extends GraphWeights {
  readonly config: ModelConfig;
  /** Positions of a cache row. */
  readonly contextLength: number;
}

/**
 * A step of any length after any cache, with operators of the ONNX standard only. Every execution provider runs it, and the fused graphs
 * are compared with it.
 *
 * Inputs, besides the parameters:
 *
 * - `tokens` and `positions`, int64 `[batch, time]`
 * - `rows`, int64 `[outputs]`: indices among `batch · time` of the tokens whose distributions are wanted
 * - `mask`, `[batch, 1, time, contextLength + time]`: added to attention scores
 * - `inverse_temperature`, `[outputs, 1]`
 * - the cache, `[batch, keyValueHeads, contextLength, headDimension]`
 *
 * Outputs: `probabilities` and `logits` `[outputs, V]`, and the new keys and values `[batch, keyValueHeads, time, headDimension]`. The
 * caller writes them into the cache.
 */
export function standardGraph(options: StandardGraphOptions): Graph {
  const graph = new Graph();
  const attendAt = (positions: Value) => concatenatedAttention(graph, options, positions);
  const { hidden, logits } = inputStates(graph, { ...options, ops: 'standard' }, attendAt);
  const last = embedding(hidden, graph.input('rows', 'int64', ['outputs']));
  addStepOutputs({ hidden: last, logits }, 'distributions');
  return graph;
}

function concatenatedAttention(
  graph: Graph,
  { config, contextLength }: StandardGraphOptions,
  positions: Value,
) {
  const keys = sumDimension([contextLength, 'time']);
  const mask = graph.input('mask', 'float32', ['batch', 1, 'time', keys]);
  const maskOf = layerMask(mask, { config, contextLength }, positions);
  const heads = turnedHeads(positions, { config, contextLength }, 'standard');
  const valueHeads = { batch: 'batch', time: 'time', heads: config.keyValueHeads };
  const cache = ['batch', config.keyValueHeads, contextLength, config.headDimension];
  return (layer: number, query: Value, key: Value, value: Value): Value => {
    const newKey = heads(layer, key, config.keyValueHeads);
    const newValue = splitHeads(value, valueHeads);
    graph.output(cacheNames.newKey(layer), newKey);
    graph.output(cacheNames.newValue(layer), newValue);
    const allKeys = concat([graph.input(cacheNames.key(layer), 'float32', cache), newKey], 2);
    const allValues = concat([graph.input(cacheNames.value(layer), 'float32', cache), newValue], 2);
    const shared = { scale: attentionScale(config), ops: 'standard', output: 'merged' } as const;
    return attention(heads(layer, query, config.heads), allKeys, allValues, {
      ...shared,
      mask: maskOf(layer),
    });
  };
}

/** Mask of each layer: the given one, which also hides positions outside of the layer's sliding window. */
function layerMask(
  mask: Value,
  { config, contextLength }: Pick<StandardGraphOptions, 'config' | 'contextLength'>,
  positions: Value,
): (layer: number) => Value {
  let windowed: Value | undefined;
  const hideOutside = (window: number) => {
    const slots = reshape(range(mask.graph, contextLength), [1, contextLength]);
    const cached = expand(slots, ['batch', contextLength]);
    const keys = reshape(concat([cached, positions], 1), ['batch', 1, 1, mask.shape[3]!]);
    return add(mask, windowMask(reshape(positions, ['batch', 1, 'time', 1]), keys, window));
  };
  return (layer) => {
    const window = windowOf(config, layer);
    if (window === undefined) return mask;
    windowed ??= hideOutside(window);
    return windowed;
  };
}
