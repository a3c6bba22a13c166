import type { ModelConfig } from '@rlp/models';
import { attentionScale, windowOf } from '@rlp/models/decoder';
import { type Dimension, defineOp, Graph, productDimension, type Value } from '@rlp/onnx';
import { embedding, rotaryEmbedding } from '@rlp/onnx/layers';
import { reshape } from '@rlp/onnx/ops';
import { decoderStates, type GraphWeights, type LinearOrder, ropeConstants } from './blocks.ts';
import { promptAttention } from './shared-attention.ts';
import { addStepOutputs, type StepOutput } from './step-outputs.ts';

/** Keys and values of the cache before and after attention. */
export const cacheNames = {
  key: (layer: number) => `key.${layer}`,
  value: (layer: number) => `value.${layer}`,
  newKey: (layer: number) => `new_key.${layer}`,
  newValue: (layer: number) => `new_value.${layer}`,
};

/** An output of one number, before all others. */
export const firstOutput = 'less_total';

/** Options of {@link fusedGraph}. */
export interface FusedGraphOptions extends GraphWeights {
  readonly config: ModelConfig;
  /** Positions of a cache row. */
  readonly contextLength: number;
  /** `'prompts'`: whole prompts into empty rows, padded on the right. `'tokens'`: one token into each row. */
  readonly step: 'prompts' | 'tokens';
  /** Whether rows share prompts (see {@link promptAttention}), in float32 and steps of tokens. Default `'own'`. */
  readonly prompts?: 'own' | 'shared' | undefined;
  readonly linear: LinearOrder;
  /** Element type of cache, weights and hidden states. Default `'float32'`. */
  readonly type?: 'float32' | 'float16' | undefined;
  /** What a step returns. Default `'distributions'`. */
  readonly output?: StepOutput | undefined;
}

const negateOp = defineOp({ type: 'Neg' });
const groupQueryAttentionOp = defineOp({ type: 'GroupQueryAttention', domain: 'com.microsoft' });

/**
 * Prefill or decode step with ONNX Runtime's grouped-query attention. The kernel rotates queries and keys, appends to the cache in place
 * and attends over the length of each row.
 *
 * Inputs, besides the cache, and the parameters unless they are initialisers:
 *
 * - `tokens`, int64 `[batch, time]`
 * - `last_positions`, int32 `[batch]`: tokens of each row after this step, minus one
 * - `total`, int32 `[1]`: the largest number of tokens of a row after this step
 * - `rows`, int64 `[outputs]`: indices among `batch · time` of the tokens whose distributions are wanted. Prompts only.
 * - `positions`, int64 `[batch, time]`: for learned positions, shared prompts, and heads that the kernel cannot rotate
 * - `inverse_temperature`, `[outputs, 1]`
 *
 * Outputs: {@link firstOutput}, which every run must fetch, those of {@link addStepOutputs}, and the cache, in the same memory as the
 * input.
 */
export function fusedGraph(options: FusedGraphOptions): Graph {
  const { config, step, linear, output = 'distributions' } = options;
  const graph = new Graph();
  const time: Dimension = step === 'prompts' ? 'time' : 1;
  const tokens = graph.input('tokens', 'int64', ['batch', time]);
  // The first output of a run is copied (see native-binding.ts of the engine): this one instead of a layer of the cache.
  const total = graph.input('total', 'int32', [1]);
  graph.output(firstOutput, graph.apply(negateOp, [total], {}, [{ type: 'int32', shape: [1] }])[0]!);
  let known: Value | undefined;
  const positions = () => {
    known ??= graph.input('positions', 'int64', ['batch', time]);
    return known;
  };
  const attend = cachedAttention(graph, options, { time, total, positions });
  const { hidden, head } = decoderStates({
    ...{ config, tokens, positions, ops: 'fused', linear, weights: options, attend },
  });
  const last = step === 'tokens' ? hidden : embedding(hidden, graph.input('rows', 'int64', ['outputs']));
  addStepOutputs({ hidden: last, head }, { linear, output });
  return graph;
}

/** The kernel rotates heads whose dimension is a multiple of 16. Others are rotated before it. */
const KERNEL_ROTATES = 16;

/** Inputs of a step that attention reads. */
interface StepValues {
  readonly time: Dimension;
  readonly total: Value;
  readonly positions: () => Value;
}

function cachedAttention(
  graph: Graph,
  { config, contextLength, type = 'float32', prompts = 'own' }: FusedGraphOptions,
  { time, total, positions }: StepValues,
) {
  const lastPositions = graph.input('last_positions', 'int32', ['batch']);
  const ropeOf = ropeConstants(graph, config, contextLength, type);
  const shared = prompts === 'shared' ? promptAttention(graph, config) : undefined;
  const cache = ['batch', config.keyValueHeads, contextLength, config.headDimension];
  const settings = {
    num_heads: config.heads,
    kv_num_heads: config.keyValueHeads,
    scale: { float: attentionScale(config) },
  };
  const inBatch = (x: Value) => reshape(x, ['batch', time, x.shape[1]!]);
  return (layer: number, query: Value, key: Value, value: Value): Value => {
    const rope = ropeOf(layer);
    const inKernel = rope !== undefined && config.headDimension % KERNEL_ROTATES === 0 && !shared;
    const rotate = (x: Value, heads: number) =>
      rope && !inKernel ? rotaryEmbedding(x, { ...rope, heads, positions: positions() }) : x;
    const turned = rotate(inBatch(query), config.heads);
    const prompt = shared?.(layer, turned);
    const inputs = [
      turned,
      rotate(inBatch(key), config.keyValueHeads),
      inBatch(value),
      graph.input(cacheNames.key(layer), type, cache),
      graph.input(cacheNames.value(layer), type, cache),
      lastPositions,
      total,
      ...(inKernel ? [rope.cos, rope.sin] : []),
      // The bias comes after both tables and positions.
      ...(prompt ? [undefined, undefined, undefined, prompt.bias] : []),
    ];
    const [attended, newKey, newValue, probabilities] = graph.apply(
      groupQueryAttentionOp,
      inputs,
      {
        ...settings,
        do_rotary: inKernel ? 1 : 0,
        local_window_size: windowOf(config, layer) ?? -1,
        ...(prompt ? { qk_output: 2 } : {}),
      },
      [
        { type, shape: ['batch', time, query.shape[1]!] },
        { type, shape: cache },
        { type, shape: cache },
        ...(prompt ? [{ type, shape: prompt.bias.shape }] : []),
      ],
    );
    graph.output(cacheNames.newKey(layer), newKey!);
    graph.output(cacheNames.newValue(layer), newValue!);
    const joined = prompt ? prompt.join(attended!, probabilities!) : attended!;
    return reshape(joined, [productDimension(['batch', time]), query.shape[1]!]);
  };
}
