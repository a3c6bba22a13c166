import type { Loss, LossInputs } from '@rlp/core';
import {
  Graph,
  gradients,
  mul,
  productDimension,
  reshape,
  serialize,
  sum,
  type TableGradient,
  tokenLogprobs,
  traceOps,
  type Value,
} from '@rlp/onnx';
import { type BlockInput, cutRows } from './parameter-blocks.ts';
import type { GraphPlan, ParameterBlock, ScatteredGradient } from './program-protocol.ts';

/** A table that a decoder looks rows up in, and the rows it got. */
export interface TableLookup {
  /** The table's parameter. */
  readonly parameter: string;
  /** `[rows · length, width]`. */
  readonly rows: Value;
}

/** A decoder built into a graph. */
export interface DecoderValues {
  /** Input of the output matrix, `[rows · length, hidden size]`. */
  readonly hidden: Value;
  /** The output matrix `[vocabulary, hidden size]` and its parameter's name. */
  readonly head: { readonly parameter: string; readonly weight: Value };
  /** The embedding looked up at the input tokens: without a gradient to its table, if that is what was asked for. */
  readonly embedding: TableLookup;
  /** Every parameter that became an input, by name. */
  readonly parameters: ReadonlyMap<string, Value>;
}

/** Builds a decoder into a graph; `tokens` is `[rows, length]`, `tables` says how the embedding gets its gradient. */
export type DecoderBuilder = (graph: Graph, tokens: Value, tables: TableGradient) => DecoderValues;

/** What differentiation needs of a forward pass. */
interface ForwardValues {
  readonly decoder: DecoderValues;
  /** The output matrix in parts, where it is large. */
  readonly blocks: readonly BlockInput[];
  readonly targetRows: TableLookup | undefined;
}

/** Rows and length of a micro-batch, known when the graph runs. */
const size = ['rows', 'length'];
const positions = productDimension(size);

/** Builds the graphs of one policy, for micro-batches of any size and temperature: to score tokens, and to train with a loss. */
export class PolicyGraphs {
  readonly #decoder: DecoderBuilder;
  readonly #trainable: ReadonlySet<string>;
  readonly #tables: TableGradient;

  /**
   * @param trainable - Parameters that gradients are computed for.
   * @param residency - Where they live: on the host, rows of tables are added up outside the graph, which is faster; on a
   * device every gradient is computed by the graph and stays there.
   */
  constructor(decoder: DecoderBuilder, trainable: Iterable<string>, residency: 'host' | 'device' = 'host') {
    this.#decoder = decoder;
    this.#trainable = new Set(trainable);
    this.#tables = residency === 'host' ? 'rows' : 'dense';
  }

  /** Outputs `logprobs` and `entropies`, each `[rows, length]`. */
  scoring(key: string): GraphPlan {
    const { graph, logprobs, entropies, decoder, blocks } = this.#forward('needed');
    graph.output('logprobs', logprobs);
    graph.output('entropies', entropies!);
    return {
      ...planOf(key, graph, decoder),
      columns: {},
      gradients: {},
      blocks: blocks.map(({ block }) => block),
      scattered: [],
      deviceOutputs: [],
      metrics: {},
    };
  }

  /**
   * Outputs `loss`, `logprobs`, sums of metrics, and gradients.
   *
   * The loss sees logprobs and entropies of 0 where the mask is 0, so nothing there can produce a NaN, forward or backward.
   */
  training(key: string, loss: Loss): GraphPlan {
    const entropyNeed = loss.entropies ?? 'none';
    const { graph, logprobs, entropies, ...forward } = this.#forward(entropyNeed);
    const ops = traceOps(graph);
    const mask = graph.input('mask', 'float32', size);
    const weights = graph.input('weights', 'float32', size);
    const zero = ops.constant(0);
    const columns = Object.fromEntries(loss.columns.map((name) => [name, `column:${name}`]));
    const inputs: LossInputs<Value> = {
      logprobs: ops.where(mask, logprobs, zero),
      mask,
      entropies: entropies && ops.where(mask, entropies, zero),
      columns: Object.fromEntries(
        Object.entries(columns).map(([name, input]) => [name, graph.input(input, 'float32', size)]),
      ),
    };
    const { tokenLosses, metrics = {} } = loss.compute(ops, inputs);
    const total = reshape(sum(mul(ops.where(mask, tokenLosses, zero), weights)), []);
    graph.output('loss', total);
    graph.output('logprobs', logprobs);
    const metricOutputs: Record<string, string> = {};
    for (const [name, metric] of Object.entries(metrics)) {
      metricOutputs[name] = `metric:${name}`;
      graph.output(metricOutputs[name], reshape(sum(mul(ops.where(mask, metric, zero), mask)), []));
    }
    const derived = this.#differentiate(graph, total, forward);
    return { columns, metrics: metricOutputs, ...derived, ...planOf(key, graph, forward.decoder) };
  }

  #forward(entropies: 'none' | 'needed') {
    const graph = new Graph();
    const tokens = graph.input('tokens', 'int64', size);
    const targets = graph.input('targets', 'int64', size);
    const temperature = graph.input('temperature', 'float32', []);
    const decoder = this.#decoder(graph, tokens, this.#tables);
    const { parameter, weight } = decoder.head;
    const flatTargets = reshape(targets, [positions]);
    const blocks = this.#tables === 'rows' ? cutRows(graph, parameter, weight) : [];
    const options = {
      temperature,
      entropies,
      gradient: this.#tables,
      blocks: blocks.length > 0 ? blocks.map(({ value }) => value) : undefined,
    } as const;
    const scores = tokenLogprobs(decoder.hidden, weight, flatTargets, options);
    const grid = (x: Value) => reshape(x, size);
    return {
      graph,
      decoder,
      blocks,
      logprobs: grid(scores.logprobs),
      entropies: scores.entropies && grid(scores.entropies),
      targetRows: scores.targetRows && { parameter, rows: scores.targetRows },
    };
  }

  #differentiate(
    graph: Graph,
    loss: Value,
    { decoder, blocks, targetRows }: ForwardValues,
  ): Pick<GraphPlan, 'gradients' | 'blocks' | 'scattered' | 'deviceOutputs'> {
    const lookups =
      this.#tables === 'dense'
        ? []
        : [
            { ...decoder.embedding, indices: 'tokens' as const },
            { ...targetRows!, indices: 'targets' as const },
          ].filter(({ parameter }) => this.#trainable.has(parameter));
    const inParts = new Set(blocks.map(({ block }) => block.parameter));
    const looksUpOnly = (name: string) =>
      this.#tables === 'rows' && name === decoder.embedding.parameter && name !== decoder.head.parameter;
    const whole = [...decoder.parameters].filter(
      ([name]) => this.#trainable.has(name) && !looksUpOnly(name) && !inParts.has(name),
    );
    const trainedBlocks = blocks.filter(({ block }) => this.#trainable.has(block.parameter));
    const derived = gradients(loss, [
      ...whole.map(([, value]) => value),
      ...lookups.map(({ rows }) => rows),
      ...trainedBlocks.map(({ value }) => value),
    ]);
    const ofBlocks = derived.splice(whole.length + lookups.length);
    for (const [i, { block }] of trainedBlocks.entries()) graph.output(gradientOf(block), ofBlocks[i]!);
    const outputs: Record<string, string> = {};
    for (const [i, [name]] of whole.entries()) {
      outputs[name] = `gradient:${name}`;
      graph.output(outputs[name], derived[i]!);
    }
    const scattered = lookups.map(({ parameter, rows, indices }, i): ScatteredGradient => {
      const output = `rows:${indices}`;
      graph.output(output, derived[whole.length + i]!);
      return { parameter, output, indices, width: Number(rows.shape[1]) };
    });
    const deviceOutputs = this.#tables === 'dense' ? Object.values(outputs) : [];
    return {
      gradients: outputs,
      blocks: blocks.map(({ block }) =>
        this.#trainable.has(block.parameter) ? { ...block, output: gradientOf(block) } : block,
      ),
      scattered,
      deviceOutputs,
    };
  }
}

function gradientOf({ input }: ParameterBlock): string {
  return `gradient:${input}`;
}

function planOf(key: string, graph: Graph, decoder: DecoderValues) {
  return { key, parameters: [...decoder.parameters.keys()], model: serialize(graph) };
}
