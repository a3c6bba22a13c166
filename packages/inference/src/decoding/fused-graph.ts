import type { ModelConfig } from '@rlp/models';
import { attentionScale, windowOf } from '@rlp/models/decoder';
import { type Dimension, defineOp, Graph, productDimension, type Value } from '@rlp/onnx';
import { embedding, rotaryEmbedding } from '@rlp/onnx/layers';
import { add, gather, reshape } from '@rlp/onnx/ops';
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

/** Cache after a part of a step's tokens but the last, in the same memory. The last part's cache has the names above. */
export function partName(name: string, part: number): string {
  return `${name}.part${part}`;
}

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
  /**
   * Parts of a single row's tokens that attend one after another, for steps of prompts. The kernel computes the scores of all keys up to
   * the last token's, and hidden ones take longer than others. Default 1.
   */
  readonly parts?: number | undefined;
  readonly linear: LinearOrder;
  /** Element type of cache, weights and hidden states. Default `'float32'`. */
  readonly type?: 'float32' | 'float16' | undefined;
  /** What a step returns. Default `'distributions'`. */
  readonly output?: StepOutput | undefined;
}

const negateOp = defineOp({ type: 'Neg' });
const splitOp = defineOp({ type: 'Split' });
const concatOp = defineOp({ type: 'Concat' });
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
 * - `part_sizes`, int64 `[parts]`, and `part_last_positions`, int32 `[parts]`: tokens of each part, and of the row after it, minus one. For
 *   several parts only, instead of `last_positions`.
 * - `positions`, int64 `[batch, time]`: for learned positions, shared prompts, and heads that the kernel cannot rotate
 * - `inverse_temperature`, `[outputs, 1]`
 *
 * Outputs: {@link firstOutput}, which every run must fetch, those of {@link addStepOutputs}, and the cache, also after each part, in the
 * same memory as the input.
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
  const { hidden, logits } = decoderStates({
    ...{ config, tokens, positions, ops: 'fused', linear, weights: options, attend },
  });
  const last = step === 'tokens' ? hidden : embedding(hidden, graph.input('rows', 'int64', ['outputs']));
  addStepOutputs({ hidden: last, logits }, output);
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

function cachedAttention(graph: Graph, options: FusedGraphOptions, { time, total, positions }: StepValues) {
  const { config, contextLength, type = 'float32', prompts = 'own' } = options;
  const parts = partsOf(graph, options.parts ?? 1, { time, total });
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
    const tables = inKernel ? [rope.cos, rope.sin] : [];
    // The bias comes after both tables and positions.
    const bias = prompt ? [undefined, undefined, undefined, prompt.bias] : [];
    const attributes = {
      ...settings,
      do_rotary: inKernel ? 1 : 0,
      local_window_size: windowOf(config, layer) ?? -1,
      ...(prompt ? { qk_output: 2 } : {}),
    };
    const rows = [turned, rotate(inBatch(key), config.keyValueHeads), inBatch(value)].map(parts.cut);
    let [keys, values] = [cacheNames.key(layer), cacheNames.value(layer)].map((name) =>
      graph.input(name, type, cache),
    );
    const attended = parts.spans.map(({ last, end, span }, part) => {
      const [output, newKey, newValue, probabilities] = graph.apply(
        groupQueryAttentionOp,
        [...rows.map((cut) => cut[part]), keys, values, last, end, ...tables, ...bias],
        attributes,
        [
          { type, shape: ['batch', span, query.shape[1]!] },
          { type, shape: cache },
          { type, shape: cache },
          ...(prompt ? [{ type, shape: prompt.bias.shape }] : []),
        ],
      );
      const named = (name: string) => (part === parts.spans.length - 1 ? name : partName(name, part));
      graph.output(named(cacheNames.newKey(layer)), newKey!);
      graph.output(named(cacheNames.newValue(layer)), newValue!);
      [keys, values] = [newKey, newValue];
      return prompt ? prompt.join(output!, probabilities!) : output!;
    });
    return reshape(parts.join(attended), [productDimension(['batch', time]), query.shape[1]!]);
  };
}

/** Consecutive tokens that attend at once. */
interface Span {
  readonly span: Dimension;
  /** Tokens of each row after them minus one, and the largest number of tokens of a row, int32. */
  readonly last: Value;
  readonly end: Value;
}

function partsOf(graph: Graph, count: number, { time, total }: Pick<StepValues, 'time' | 'total'>) {
  if (count === 1) {
    const last = graph.input('last_positions', 'int32', ['batch']);
    return {
      spans: [{ span: time, last, end: total }],
      cut: (x: Value): readonly Value[] => [x],
      join: ([x]: readonly Value[]) => x!,
    };
  }
  const sizes = graph.input('part_sizes', 'int64', [count]);
  const lasts = graph.input('part_last_positions', 'int32', [count]);
  const one = graph.constant([1], [1], 'int32');
  const spans = Array.from({ length: count }, (_, part): Span => {
    const last = gather(lasts, graph.constant([part], [1], 'int64'));
    return { span: `part${part}`, last, end: add(last, one) };
  });
  const cut = (x: Value) =>
    graph.apply(
      splitOp,
      [x, sizes],
      { axis: 1 },
      spans.map(({ span }) => ({ type: x.type, shape: x.shape.with(1, span) })),
    );
  const join = (outputs: readonly Value[]) => {
    const [batch, , width] = outputs[0]!.shape;
    return graph.apply(concatOp, outputs, { axis: 1 }, [
      { type: outputs[0]!.type, shape: [batch!, time, width!] },
    ])[0]!;
  };
  return { spans, cut, join };
}
