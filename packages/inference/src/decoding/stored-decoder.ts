import type { TokenId } from '@rlp/core';
import { headParameter } from '@rlp/models/decoder';
import { type Graph, serialize, type Value } from '@rlp/onnx';
import type { EngineHost, EngineSession, SessionOptions, Tensors } from '@rlp/onnx/runtime';
import type { GraphWeights, LayerProduct } from './blocks.ts';
import type {
  DecoderOptions,
  LogitsNeed,
  NextTokenDistributions,
  NextTokens,
  RowExtension,
  RowFork,
} from './cached-decoder.ts';
import { HalfWeights } from './half-weights.ts';
import { oneTokenEach, type StepInputs, type StepKind } from './step-inputs.ts';
import { WeightFile } from './weight-file.ts';
import { WeightWatch } from './weight-watch.ts';
import { StoredWeights } from './weights.ts';

/** A session and the parameters that its runs read. On a device an update replaces them. */
interface Step {
  readonly session: EngineSession;
  readonly parameters: () => Tensors;
}

type BuildStep = (weights: GraphWeights) => Graph;

/** Base of all decoders: sizes, weights from a store, steps and their sessions. */
export abstract class StoredDecoder {
  readonly vocabularySize: number;
  readonly contextLength: number;
  readonly maxSequences: number;
  protected readonly options: DecoderOptions;
  protected readonly host: EngineHost;
  /** Weights in float16, if the options ask for them. */
  protected readonly half: HalfWeights | undefined;
  readonly #weights: StoredWeights;
  /**
   * The head that is rounded beside layers that the store holds quantized. Those do not change, and corrections are read in place, but
   * it may be trained in full. Rows of tokens that are not sampled hardly change, so each row is watched.
   */
  readonly #head: WeightWatch | undefined;
  readonly #steps = new Map<string, Promise<Step>>();

  constructor(host: EngineHost, options: DecoderOptions) {
    const { config, contextLength, maxSequences, store } = options;
    this.vocabularySize = config.vocabularySize;
    this.contextLength = contextLength;
    this.maxSequences = maxSequences;
    this.options = options;
    this.host = host;
    this.#weights = new StoredWeights(host, config, store);
    if (options.weights === 'int8' && this.isQuantized) {
      const head = { names: [headParameter(config)], values: config.vocabularySize };
      this.#head = new WeightWatch(host, store, head);
    }
    this.half = options.weights === 'float16' ? new HalfWeights(host, store) : undefined;
  }

  abstract prepare(): Promise<void>;

  abstract copyRow(from: number, to: number, length: number): void;

  fork({ from, to, count, length }: RowFork): void {
    for (let row = to; row < to + count; row++) this.copyRow(from, row, length);
  }

  /** Runs a step. */
  protected abstract compute(
    kind: StepKind,
    inputs: StepInputs,
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions>;

  prefill(
    firstRow: number,
    prompts: readonly (readonly TokenId[])[],
    temperatures: readonly number[],
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const inputs = { firstRow, tokens: prompts, lengths: prompts.map(() => 0), temperatures };
    return this.compute('prompts', inputs, logits);
  }

  decode(next: NextTokens, logits: LogitsNeed): Promise<NextTokenDistributions> {
    return this.compute('tokens', oneTokenEach(next), logits);
  }

  extend(
    { row, length, tokens, temperature, last }: RowExtension,
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const temperatures = new Array<number>(last).fill(temperature);
    const inputs = { firstRow: row, tokens: [tokens], lengths: [length], temperatures };
    return this.compute('prompts', inputs, logits);
  }

  async refresh(): Promise<void> {
    const { weights } = this.options;
    if (weights === 'shared' || this.#head?.changed() === false) return;
    await this.close();
    await this.prepare();
  }

  /** Whether the store holds the linear layers in 8 or 4 bits. */
  protected get isQuantized(): boolean {
    return this.#weights.form !== 'float32';
  }

  /** A parameter as a graph sees it. */
  #parameter(graph: Graph, name: string, file: WeightFile): Value {
    const { weights } = this.options;
    if (weights === 'packed') return this.#weights.initializer(graph, name, file);
    return this.#weights.input(graph, name, weights === 'float16' ? 'float16' : 'float32');
  }

  #product(file: WeightFile): LayerProduct {
    const { weights, operators } = this.options;
    if (weights === 'int8') return this.#weights.roundedProduct(file);
    return operators === 'fused' ? this.#weights.bakedProduct(file) : this.#weights.storedProduct;
  }

  async close(): Promise<void> {
    const steps = await Promise.allSettled(this.#steps.values());
    this.#steps.clear();
    for (const step of steps) if (step.status === 'fulfilled') await step.value.session.release();
  }

  /** Step with this key. Its graph is compiled once, with parameters as inputs or initialisers, as the options say. */
  protected step(key: string, build: BuildStep, options: SessionOptions = {}): Promise<Step> {
    const known = this.#steps.get(key);
    if (known) return known;
    const step = this.#open(build, options);
    this.#steps.set(key, step);
    step.catch(() => this.#steps.delete(key));
    return step;
  }

  async #open(build: BuildStep, options: SessionOptions): Promise<Step> {
    const session = await this.#compile(build, options);
    const parameters = () => (this.half ?? this.#weights).feeds(session.inputNames);
    if (this.host.residency === 'device') return { session, parameters };
    const known = parameters();
    return { session, parameters: () => known };
  }

  async #compile(build: BuildStep, options: SessionOptions): Promise<EngineSession> {
    const file = new WeightFile();
    try {
      const parameter = (graph: Graph, name: string) => this.#parameter(graph, name, file);
      const model = serialize(build({ parameter, product: this.#product(file) }));
      const { folder } = file;
      if (folder === undefined) return await this.host.createSession(model, options);
      const places = { externalDataFolder: folder, onCompiled: () => file.remove() };
      return await this.host.createSession(model, { ...options, ...places });
    } catch (error) {
      file.remove();
      throw error;
    }
  }
}
