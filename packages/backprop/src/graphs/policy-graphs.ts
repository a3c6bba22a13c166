import { type DataType, Graph, pullback, replayGraph, serialize, type Value } from '@rlp/onnx';
import {
  type PickedRows,
  type TableGradient,
  type TokenLayout,
  type TokenLogprobsOptions,
  tokenLogprobs,
} from '@rlp/onnx/layers';
import { gather, gemm, mul, reshape } from '@rlp/onnx/ops';
import { type AttentionForm, attentionParts, stemParts } from '../batch/layout-costs.ts';
import { lossShape, type Score, type TracedLoss } from '../batch/traced-loss.ts';
import {
  type DropoutMask,
  type GradientSums,
  type GraphPlan,
  type ParameterBlock,
  type ScatteredGradient,
  totalBefore,
} from '../program-protocol.ts';
import { type BlockInput, cutRows, largeVocabulary } from './parameter-blocks.ts';

/** A table that a decoder looks up rows in, and the rows it found. */
export interface TableLookup {
  /** The table's parameter. */
  readonly parameter: string;
  /** `[tokens, width]`, or `[scores, width]` for targets. */
  readonly rows: Value;
}

/** A decoder built into a graph. */
export interface DecoderValues {
  /** Hidden states of the picked tokens, the input of the output matrix: `[scores, hidden size]`. */
  readonly hidden: Value;
  /** The output matrix `[vocabulary, hidden size]` and its parameter's name. It becomes an input on first use. */
  readonly head: { readonly parameter: string; readonly weight: () => Value };
  /** Row of the value head, `[1, hidden size]`. It becomes an input on first use. Absent without a value head. */
  readonly valueHead?: (() => Value) | undefined;
  /** Embedding of the input tokens. Its table gets a gradient only if requested. */
  readonly embedding: TableLookup;
  /** Parameters that became inputs so far, by name. */
  readonly parameters: ReadonlyMap<string, Value>;
  /** Element type of products that are not float32. Gradients are then multiplied by the input `lossScale`. */
  readonly products?: DataType | undefined;
  /** Masks that became inputs. Default: none, as in a graph that scores. */
  readonly dropouts?: readonly DropoutMask[];
}

/** Whether a graph trains. Dropout acts only then. */
export type GraphMode = 'training' | 'scoring';

/**
 * Builds a decoder into a graph.
 *
 * `tokens` is `[tokens]`, of which `picked` are those after which something is computed. `tables` selects the gradient of the embedding.
 */
export type DecoderBuilder = (
  graph: Graph,
  tokens: Value,
  layout: TokenLayout & { readonly picked: PickedRows },
  tables: TableGradient,
  mode: GraphMode,
) => DecoderValues;

/** A graph with a decoder. */
interface Trunk {
  readonly graph: Graph;
  readonly decoder: DecoderValues;
}

/** What is computed of the next token's distribution. */
type HeadParts = Required<Pick<TokenLogprobsOptions, 'entropies'>> &
  Pick<TokenLogprobsOptions, 'probabilities'>;

/** Distribution of the next token over a trunk. */
interface VocabularyHead {
  readonly logprobs: Value;
  readonly entropies: Value | undefined;
  /** Blocks of the output matrix, if it is large. */
  readonly blocks: readonly BlockInput[];
  readonly targetRows: TableLookup | undefined;
  /** Parameter of the output matrix. */
  readonly parameter: string;
}

/**
 * Builds the graphs of one policy: scoring tokens, values of states, and training with a loss.
 *
 * A graph works for micro-batches of any size and temperature.
 */
export class PolicyGraphs {
  readonly #decoder: DecoderBuilder;
  readonly #trainable: ReadonlySet<string>;
  readonly #tables: TableGradient;

  /**
   * @param trainable - Parameters that get gradients.
   * @param residency - Location of the parameters. On the host, rows of tables are added outside the graph,
   * which is faster. On a device, the graph computes every gradient and keeps it there.
   */
  constructor(decoder: DecoderBuilder, trainable: Iterable<string>, residency: 'host' | 'device' = 'host') {
    this.#decoder = decoder;
    this.#trainable = new Set(trainable);
    this.#tables = residency === 'host' ? 'rows' : 'dense';
  }

  /** Outputs `logprobs` and `entropies`, each `[scores]`. */
  scoring(key: string, attention: AttentionForm = 'whole'): GraphPlan {
    const trunk = this.#trunk(attention, 'scoring');
    const { logprobs, entropies, blocks } = this.#vocabularyHead(trunk, { entropies: 'needed' });
    return forwardPlan(
      key,
      trunk,
      { logprobs, entropies: entropies! },
      blocks.map(({ block }) => block),
    );
  }

  /** Outputs `values` `[scores]` of the states after tokens. Leaves out the output matrix. */
  values(key: string, attention: AttentionForm = 'whole'): GraphPlan {
    const trunk = this.#trunk(attention, 'scoring');
    return forwardPlan(key, trunk, { values: valuesOn(trunk) }, []);
  }

  /**
   * Outputs `loss`, the scores that the loss reads, sums of metrics, and gradients.
   *
   * For a loss that reads only values, it leaves out the output matrix and `logprobs`.
   */
  training(
    key: string,
    loss: TracedLoss,
    attention: AttentionForm = 'whole',
    sums: GradientSums = 'alone',
  ): GraphPlan {
    const trunk = this.#trunk(attention, 'training');
    const { graph } = trunk;
    const head = loss.reads.includes('logprobs')
      ? this.#vocabularyHead(trunk, this.#headParts(trunk, loss))
      : undefined;
    const scores: Partial<Record<Score, Value>> = {
      ...(head && { logprobs: head.logprobs }),
      ...(head?.entropies && { entropies: head.entropies }),
      ...(loss.reads.includes('values') && { values: valuesOn(trunk) }),
    };
    const columns = Object.fromEntries(loss.columns.map((name) => [name, `column:${name}`]));
    const arrays = ['mask', 'weights', ...Object.values(columns)].map(
      (name) => [name, graph.input(name, 'float32', lossShape)] as const,
    );
    const grid = lossGrid(graph);
    const read = Object.entries(scores).map(([name, score]) => [name, grid.spread(score)] as const);
    const found = replayGraph(graph, loss.graph, Object.fromEntries([...read, ...arrays]));
    const metrics = Object.fromEntries(loss.metrics.map((name) => [name, `metric:${name}`]));
    graph.output('loss', found.get('loss')!);
    for (const [name, score] of Object.entries(scores)) graph.output(name, score);
    for (const output of Object.values(metrics)) graph.output(output, found.get(output)!);
    const lossScale = trunk.decoder.products && graph.input('lossScale', 'float32', []);
    const scaled = (gradient: Value) => (lossScale ? mul(gradient, lossScale) : gradient);
    const upstream = loss.reads.flatMap((score) => {
      const gradient = found.get(`upstream:${score}`);
      return gradient ? [[scores[score]!, scaled(grid.collect(gradient))] as const] : [];
    });
    const derived = this.#differentiate(trunk, new Map(upstream), head, sums);
    return { columns, metrics, perPosition: Object.keys(scores), sums, ...derived, ...planOf(key, trunk) };
  }

  #trunk(attention: AttentionForm, mode: GraphMode): Trunk {
    const graph = new Graph();
    const integers = (name: string, ...shape: string[]) => graph.input(name, 'int64', shape);
    const layout = {
      positions: integers('positions', 'tokens'),
      places: integers('places', attention === 'branches' ? 'branchTokens' : 'tokens'),
      slots: integers('slots', 'rows', 'length'),
      ends: integers('ends', 'rows', 'length'),
      picked: { rows: integers('scored', 'scores'), places: integers('scorePlaces', 'tokens') },
      ...(attention === 'split' && { parts: attentionParts }),
      ...(attention === 'branches' && { parts: stemParts, stem: integers('stem', 'stem') }),
      ...(attention === 'blocks' && {
        blocks: {
          slots: integers('blockSlots', 'blocks', 'rows', 'columns'),
          places: integers('blockPlaces', 'tokens'),
        },
      }),
    };
    return { graph, decoder: this.#decoder(graph, integers('tokens', 'tokens'), layout, this.#tables, mode) };
  }

  /** A head that is not trained sums `π W` in the forward pass, which saves a third of its products. */
  #headParts({ decoder }: Trunk, { reads, graph }: TracedLoss): HeadParts {
    if (graph.outputs.has('upstream:entropies')) return { entropies: 'needed' };
    const entropies = reads.includes('entropies') ? 'reported' : 'none';
    return this.#trainable.has(decoder.head.parameter)
      ? { entropies }
      : { entropies, probabilities: 'expected' };
  }

  #vocabularyHead({ graph, decoder }: Trunk, { entropies, probabilities }: HeadParts): VocabularyHead {
    const targets = graph.input('targets', 'int64', ['scores']);
    const temperature = graph.input('temperature', 'float32', []);
    const { parameter } = decoder.head;
    const weight = decoder.head.weight();
    const blocks = this.#tables === 'rows' ? cutRows(graph, parameter, weight) : [];
    const trained = Number(weight.shape[0]) < largeVocabulary ? 'keep' : 'again';
    const inBlocks = { blocks: blocks.map(({ value }) => value), probabilities: probabilities ?? trained };
    const options = {
      temperature,
      entropies,
      gradient: this.#tables,
      products: decoder.products,
      ...(blocks.length > 0 && inBlocks),
    } as const;
    const scores = tokenLogprobs(decoder.hidden, weight, targets, options);
    return {
      logprobs: scores.logprobs,
      entropies: scores.entropies,
      blocks,
      targetRows: scores.targetRows && { parameter, rows: scores.targetRows },
      parameter,
    };
  }

  /** Rows of trained tables whose gradients are added outside the graph. */
  #lookups({ embedding }: DecoderValues, targetRows: TableLookup | undefined) {
    if (this.#tables === 'dense') return [];
    const picked = [
      { ...embedding, indices: 'tokens' as const },
      ...(targetRows ? [{ ...targetRows, indices: 'targets' as const }] : []),
    ];
    return picked.filter(({ parameter }) => this.#trainable.has(parameter));
  }

  /** Trained parameters that are neither divided into blocks nor only looked up. */
  #wholeParameters(decoder: DecoderValues, head: VocabularyHead | undefined): (readonly [string, Value])[] {
    const inParts = new Set(head?.blocks.map(({ block }) => block.parameter));
    const looksUpOnly = (name: string) =>
      this.#tables === 'rows' && name === decoder.embedding.parameter && name !== head?.parameter;
    return [...decoder.parameters].filter(
      ([name]) => this.#trainable.has(name) && !looksUpOnly(name) && !inParts.has(name),
    );
  }

  #differentiate(
    { graph, decoder }: Trunk,
    upstream: ReadonlyMap<Value, Value>,
    head: VocabularyHead | undefined,
    sums: GradientSums,
  ): Pick<GraphPlan, 'gradients' | 'blocks' | 'scattered'> {
    const blocks = head?.blocks ?? [];
    const lookups = this.#lookups(decoder, head?.targetRows);
    const whole = this.#wholeParameters(decoder, head);
    const trainedBlocks = blocks.filter(({ block }) => this.#trainable.has(block.parameter));
    const wrt = [
      ...whole.map(([, value]) => value),
      ...lookups.map(({ rows }) => rows),
      ...trainedBlocks.map(({ value }) => value),
    ];
    const outputs = new Map([
      ...whole.map(([name, value]) => [value, `gradient:${name}`] as const),
      ...trainedBlocks.map(({ block, value }) => [value, gradientOf(block)] as const),
    ]);
    const totals = sums === 'added' ? totalsOf(outputs) : new Map<Value, Value>();
    const found = pullback(upstream, wrt, totals);
    const derived = new Map(wrt.flatMap((value, i) => (found[i] ? [[value, found[i]] as const] : [])));
    for (const [value, output] of outputs) {
      const gradient = derived.get(value);
      if (gradient) graph.output(output, gradient);
    }
    const scattered = lookups.flatMap(({ parameter, rows, indices }): ScatteredGradient[] => {
      const gradient = derived.get(rows);
      if (!gradient) return [];
      const output = `rows:${indices}`;
      graph.output(output, gradient);
      return [{ parameter, output, indices, width: Number(rows.shape[1]) }];
    });
    return {
      gradients: Object.fromEntries(
        whole.flatMap(([name, value]) => (derived.has(value) ? [[name, outputs.get(value)!]] : [])),
      ),
      blocks: blocks.map(({ block, value }) =>
        derived.has(value) ? { ...block, output: gradientOf(block) } : block,
      ),
      scattered,
    };
  }
}

function gradientOf({ input }: ParameterBlock): string {
  return `gradient:${input}`;
}

/** Inputs with the gradients of earlier micro-batches. Their axes have names, because the first micro-batch has one 0 for all numbers. */
function totalsOf(outputs: ReadonlyMap<Value, string>): Map<Value, Value> {
  return new Map(
    [...outputs].map(([value, output]) => {
      const name = totalBefore(output);
      const axes = value.shape.map((_, axis) => `${name}:${axis}`);
      return [value, value.graph.input(name, value.type, axes)];
    }),
  );
}

/** Values of the critic over a trunk, `[scores]`. */
function valuesOn({ decoder }: Trunk): Value {
  return reshape(gemm(decoder.hidden, decoder.valueHead!(), { transposeB: 'yes' }), ['scores']);
}

/** Moves scores to the rows and columns that a loss reads, and gradients back. */
function lossGrid(graph: Graph) {
  const cells = graph.input('cells', 'int64', lossShape);
  const places = graph.input('cellPlaces', 'int64', ['scores']);
  return {
    spread: (scores: Value) => gather(scores, cells),
    collect: (gradient: Value) => gather(reshape(gradient, [-1]), places),
  };
}

/** A graph without gradients. */
function forwardPlan(
  key: string,
  trunk: Trunk,
  outputs: Readonly<Record<string, Value>>,
  blocks: readonly ParameterBlock[],
): GraphPlan {
  for (const [name, value] of Object.entries(outputs)) trunk.graph.output(name, value);
  return {
    ...planOf(key, trunk),
    columns: {},
    sums: 'alone',
    gradients: {},
    blocks,
    scattered: [],
    metrics: {},
    perPosition: Object.keys(outputs),
  };
}

function planOf(key: string, { graph, decoder }: Trunk) {
  const { parameters, dropouts = [] } = decoder;
  return { key, parameters: [...parameters.keys()], dropouts, model: serialize(graph) };
}
