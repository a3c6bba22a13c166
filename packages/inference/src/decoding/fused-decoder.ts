import type { TokenId } from '@rlp/core';
import { type EngineSession, Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { LinearOrder } from './blocks.ts';
import type { LogitsNeed, ManagedDecoder, NextTokenDistributions } from './cached-decoder.ts';
import { cacheNames, firstOutput, fusedGraph } from './fused-graph.ts';
import { HostDecoder } from './host-decoder.ts';
import { inverseTemperatures, type Step } from './stored-decoder.ts';

/** A run's own part of the inputs. */
interface StepInputs {
  readonly firstRow: number;
  readonly count: number;
  /** `[count, time]` */
  readonly tokens: BigInt64Array;
  /** Position of each row's first token here. */
  readonly firstPositions: readonly number[];
  /** Position of each row's last token. */
  readonly lastPositions: readonly number[];
  /** Of the tokens whose distributions are wanted. */
  readonly temperatures: readonly number[];
}

/** Few rows are multiplied faster with operands swapped. From here on the usual order wins. */
const SWAP_LIMIT = 32;

/** A step is many short operators, and its threads pause between steps. Measured in `docs/performance.md`. */
const SPIN_MICROSECONDS = 100;

/** How many views of the cache are kept for later steps. */
const CACHED_VIEWS = 256;

/**
 * Decoding on the CPU with ONNX Runtime's grouped-query attention: the cache is one block of memory per layer, which
 * the kernel extends in place.
 */
export class FusedDecoder extends HostDecoder implements ManagedDecoder {
  #probabilities = new Float32Array(0);
  #logits = new Float32Array(0);
  readonly #steps = new Map<string, Promise<Step>>();
  readonly #cacheTensors = new Map<string, { readonly feeds: Tensors; readonly into: Tensors }>();

  async prepare(): Promise<void> {
    await this.#step('prompts', 1);
    await this.#step('tokens', 1);
  }

  async prefill(
    firstRow: number,
    prompts: readonly (readonly TokenId[])[],
    temperatures: readonly number[],
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const time = Math.max(...prompts.map((prompt) => prompt.length));
    const tokens = new BigInt64Array(prompts.length * time);
    for (const [index, prompt] of prompts.entries()) tokens.set(prompt.map(BigInt), index * time);
    const lastPositions = prompts.map((prompt) => prompt.length - 1);
    const rows = BigInt64Array.from(lastPositions, (position, index) => BigInt(index * time + position));
    const firstPositions = prompts.map(() => 0);
    const inputs = { firstRow, count: prompts.length, tokens, firstPositions, lastPositions, temperatures };
    const extra = { rows: new Tensor('int64', rows, [prompts.length]) };
    return this.#run('prompts', inputs, logits, extra);
  }

  async decode(
    tokens: readonly TokenId[],
    positions: readonly number[],
    temperatures: readonly number[],
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const inputs = {
      firstRow: 0,
      count: tokens.length,
      tokens: BigInt64Array.from(tokens, BigInt),
      firstPositions: positions,
      lastPositions: positions,
      temperatures,
    };
    // In 8 bits one session computes both, so that the weights are there once.
    const rows = () => BigInt64Array.from(tokens, (_, index) => BigInt(index));
    const extra = this.#quantized ? { rows: new Tensor('int64', rows(), [tokens.length]) } : {};
    return this.#run('tokens', inputs, logits, extra);
  }

  /** The kernel continues one row at a time only. */
  async extend(
    row: number,
    length: number,
    tokens: readonly TokenId[],
    temperature: number,
    logits: LogitsNeed,
    last: number,
  ): Promise<NextTokenDistributions> {
    const inputs = {
      firstRow: row,
      count: 1,
      tokens: BigInt64Array.from(tokens, BigInt),
      firstPositions: [length],
      lastPositions: [length + tokens.length - 1],
      temperatures: new Array<number>(last).fill(temperature),
    };
    const rows = BigInt64Array.from({ length: last }, (_, index) => BigInt(tokens.length - last + index));
    return this.#run('prompts', inputs, logits, { rows: new Tensor('int64', rows, [last]) });
  }

  async close(): Promise<void> {
    const steps = await Promise.all(this.#steps.values());
    this.#steps.clear();
    for (const { session } of steps) await session.release();
  }

  async #run(
    kind: 'prompts' | 'tokens',
    inputs: StepInputs,
    need: LogitsNeed,
    extra: Tensors,
  ): Promise<NextTokenDistributions> {
    const { firstRow, count, temperatures } = inputs;
    const { session, parameters } = await this.#step(kind, count);
    const cache = this.#cacheOf(firstRow, count);
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
    const feeds = { ...parameters(), ...cache.feeds, ...this.#stepFeeds(session, inputs), ...extra };
    await session.run(feeds, { into: { ...into, ...cache.into }, fetch: [firstOutput] });
    return { probabilities, logits };
  }

  #stepFeeds({ inputNames }: EngineSession, inputs: StepInputs): Tensors {
    const { count, tokens, firstPositions, lastPositions, temperatures } = inputs;
    const time = tokens.length / count;
    const most = Math.max(...lastPositions) + 1;
    const feeds: Record<string, Tensor> = {
      tokens: new Tensor('int64', tokens, [count, time]),
      last_positions: new Tensor('int32', Int32Array.from(lastPositions), [count]),
      total: new Tensor('int32', Int32Array.of(most), [1]),
      inverse_temperature: inverseTemperatures(temperatures),
    };
    if (inputNames.includes('positions')) {
      const position = (index: number) =>
        Math.min(firstPositions[Math.floor(index / time)]! + (index % time), this.contextLength - 1);
      const positions = BigInt64Array.from(tokens, (_, index) => BigInt(position(index)));
      feeds.positions = new Tensor('int64', positions, [count, time]);
    }
    return feeds;
  }

  #cacheOf(firstRow: number, count: number) {
    const key = `${firstRow}+${count}`;
    const known = this.#cacheTensors.get(key);
    if (known !== undefined) return known;
    const feeds: Record<string, Tensor> = {};
    const into: Record<string, Tensor> = {};
    for (let layer = 0; layer < this.options.config.layers; layer++) {
      const keys = this.cache.tensor(this.cache.keys[layer]!, firstRow, count);
      const values = this.cache.tensor(this.cache.values[layer]!, firstRow, count);
      feeds[cacheNames.key(layer)] = keys;
      feeds[cacheNames.value(layer)] = values;
      into[cacheNames.newKey(layer)] = keys;
      into[cacheNames.newValue(layer)] = values;
    }
    const tensors = { feeds, into };
    if (this.#cacheTensors.size >= CACHED_VIEWS) this.#cacheTensors.clear();
    this.#cacheTensors.set(key, tensors);
    return tensors;
  }

  get #quantized(): boolean {
    return this.options.weights === 'int8' || this.isQuantized;
  }

  #step(wanted: 'prompts' | 'tokens', count: number): Promise<Step> {
    const kind = this.#quantized ? 'prompts' : wanted;
    const linear = this.#linear(kind, count);
    const key = `${kind} ${linear}`;
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    const step = this.#openStep(kind, linear);
    this.#steps.set(key, step);
    step.catch(() => this.#steps.delete(key));
    return step;
  }

  #linear(kind: 'prompts' | 'tokens', count: number): LinearOrder {
    const { weights, maxSequences } = this.options;
    if (this.#quantized) return maxSequences <= SWAP_LIMIT ? 'swapped' : 'plain';
    return kind === 'tokens' && weights === 'shared' && count <= SWAP_LIMIT ? 'swapped' : 'plain';
  }

  async #openStep(kind: 'prompts' | 'tokens', linear: LinearOrder): Promise<Step> {
    const { config, contextLength } = this.options;
    // Optimisation would swap the operands back.
    const options = {
      graphOptimization: linear === 'swapped' ? 'none' : 'all',
      spinMicroseconds: SPIN_MICROSECONDS,
    } as const;
    return this.open(
      (parameter, product) => fusedGraph({ config, contextLength, step: kind, linear, parameter, product }),
      options,
    );
  }
}
