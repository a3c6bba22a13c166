import { type EngineHost, Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { LinearOrder } from './blocks.ts';
import type {
  DecoderOptions,
  LogitsNeed,
  ManagedDecoder,
  NextTokenDistributions,
  RowFork,
} from './cached-decoder.ts';
import { attentionParts, fusedFeeds } from './fused-feeds.ts';
import { firstOutput, fusedGraph } from './fused-graph.ts';
import { HostDecoder } from './host-decoder.ts';
import { SharedPrompts, type SharedStep } from './shared-prompts.ts';
import type { StepInputs, StepKind } from './step-inputs.ts';

/** Below this number of rows, products are faster with their operands swapped. */
const SWAP_LIMIT = 32;

/** A step is many short operators, and its threads pause between steps. Measured in `docs/performance.md`. */
const SPIN_MICROSECONDS = 100;

/** Tokens of a single row from which they attend in parts. */
const LEAST_PARTED = 96;

/** Number of views of the cache that are kept for later steps. */
const CACHED_VIEWS = 256;

/** How rows attend in a step. */
interface StepForm {
  readonly shared?: SharedStep | undefined;
  readonly parts?: number;
}

/**
 * Decoding on the CPU with ONNX Runtime's grouped-query attention. The cache is one block of memory per layer, which the kernel extends in
 * place.
 */
export class FusedDecoder extends HostDecoder implements ManagedDecoder {
  #probabilities = new Float32Array(0);
  #logits = new Float32Array(0);
  readonly #cacheTensors = new Map<string, { readonly feeds: Tensors; readonly into: Tensors }>();

  /** `undefined` if a further session would need a further copy of weights, or a window would cut prompts off. */
  readonly #prompts: SharedPrompts | undefined;

  constructor(host: EngineHost, options: DecoderOptions) {
    super(host, options);
    const { config, contextLength } = options;
    const isCut = (config.slidingWindow ?? contextLength) < contextLength;
    if (!this.#isBuiltIn && !isCut) this.#prompts = new SharedPrompts(this.cache);
  }

  async prepare(): Promise<void> {
    await this.#step('prompts', 1);
    await this.#step('tokens', 1);
  }

  protected async compute(
    kind: StepKind,
    inputs: StepInputs,
    need: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const { firstRow, tokens, lengths, temperatures } = inputs;
    const shared = kind === 'tokens' ? this.#prompts?.step(lengths) : this.#ownPrompts(inputs);
    const parts = this.#partsOf(kind, inputs);
    const { session, parameters } = await this.#step(kind, tokens.length, { shared, parts });
    const cache = this.#cacheOf(firstRow, tokens.length, parts);
    const shape = [temperatures.length, this.vocabularySize];
    const size = temperatures.length * this.vocabularySize;
    if (this.#probabilities.length < size) this.#probabilities = new Float32Array(size);
    const probabilities = this.#probabilities.subarray(0, size);
    const into: Record<string, Tensor> = { probabilities: new Tensor('float32', probabilities, shape) };
    let logits: Float32Array | undefined;
    if (need === 'needed') {
      if (this.#logits.length < size) this.#logits = new Float32Array(size);
      logits = this.#logits.subarray(0, size);
      into.logits = new Tensor('float32', logits, shape);
    }
    const own = fusedFeeds(inputs, session.inputNames, this.contextLength, shared?.held);
    const feeds = { ...parameters(), ...cache.feeds, ...own, ...shared?.feeds };
    await session.run(feeds, { into: { ...into, ...cache.into }, fetch: [firstOutput] });
    return { probabilities, logits };
  }

  /** Further sessions would need further copies of weights that are built in. */
  #partsOf(kind: StepKind, { tokens: rows }: StepInputs): number {
    const isOne = kind === 'prompts' && rows.length === 1;
    return isOne && !this.#isBuiltIn && rows[0]!.length >= LEAST_PARTED ? attentionParts : 1;
  }

  /** Rows whose prompts change share none. */
  #ownPrompts({ firstRow, tokens, lengths }: StepInputs): undefined {
    for (let index = 0; index < tokens.length; index++) {
      if (lengths[index] === 0) this.#prompts?.release(firstRow + index);
      else this.#prompts?.restore(firstRow + index);
    }
  }

  override fork(fork: RowFork): void {
    const { from, to, count, length } = fork;
    if (!this.#prompts?.share(from, to, count, length)) super.fork(fork);
  }

  override copyRow(from: number, to: number, length: number): void {
    if (this.#prompts) this.#prompts.copyRow(from, to, length);
    else super.copyRow(from, to, length);
  }

  override saveRow(row: number, position: number, into: Float32Array): void {
    this.#prompts?.restore(row);
    super.saveRow(row, position, into);
  }

  override loadRow(row: number, position: number, from: Float32Array): void {
    this.#prompts?.release(row);
    super.loadRow(row, position, from);
  }

  #cacheOf(firstRow: number, count: number, parts: number) {
    const key = `${firstRow}+${count} ${parts}`;
    const known = this.#cacheTensors.get(key);
    if (known !== undefined) return known;
    const tensors = this.rowTensors(firstRow, count, parts);
    if (this.#cacheTensors.size >= CACHED_VIEWS) this.#cacheTensors.clear();
    this.#cacheTensors.set(key, tensors);
    return tensors;
  }

  /** Whether weights are part of the sessions. One session then computes both kinds of steps, so that they are in memory once. */
  get #isBuiltIn(): boolean {
    return this.options.weights !== 'shared' || this.isQuantized;
  }

  #step(wanted: StepKind, count: number, { shared, parts = 1 }: StepForm = {}) {
    const { config, contextLength } = this.options;
    const step = this.#isBuiltIn ? 'prompts' : wanted;
    const linear = this.#linear(step, count);
    // Optimisation would swap the operands back.
    const options = {
      graphOptimization: linear === 'swapped' ? 'none' : 'all',
      spinMicroseconds: SPIN_MICROSECONDS,
    } as const;
    const prompts = shared ? 'shared' : 'own';
    return this.step(
      `${step} ${linear} ${prompts} ${parts}`,
      (weights) => fusedGraph({ config, contextLength, step, prompts, parts, linear, ...weights }),
      options,
    );
  }

  /**
   * A single row is faster as it is stored, but then gets other last bits than it gets among others. So only a decoder of one row computes
   * it so, and numbers change less with what else runs.
   */
  #linear(step: StepKind, count: number): LinearOrder {
    const { weights, maxSequences } = this.options;
    if (weights !== 'shared' || maxSequences === 1) return 'plain';
    if (this.#isBuiltIn) return maxSequences <= SWAP_LIMIT ? 'swapped' : 'plain';
    return step === 'tokens' && count <= SWAP_LIMIT ? 'swapped' : 'plain';
  }
}
