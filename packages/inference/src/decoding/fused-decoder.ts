import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { LinearOrder } from './blocks.ts';
import type { LogitsNeed, ManagedDecoder, NextTokenDistributions } from './cached-decoder.ts';
import { fusedFeeds } from './fused-feeds.ts';
import { firstOutput, fusedGraph } from './fused-graph.ts';
import { HostDecoder } from './host-decoder.ts';
import type { StepInputs, StepKind } from './step-inputs.ts';

/** Below this number of rows, products are faster with their operands swapped. */
const SWAP_LIMIT = 32;

/** A step is many short operators, and its threads pause between steps. Measured in `docs/performance.md`. */
const SPIN_MICROSECONDS = 100;

/** Number of views of the cache that are kept for later steps. */
const CACHED_VIEWS = 256;

/**
 * Decoding on the CPU with ONNX Runtime's grouped-query attention. The cache is one block of memory per layer, which the kernel extends in
 * place.
 */
export class FusedDecoder extends HostDecoder implements ManagedDecoder {
  #probabilities = new Float32Array(0);
  #logits = new Float32Array(0);
  readonly #cacheTensors = new Map<string, { readonly feeds: Tensors; readonly into: Tensors }>();

  async prepare(): Promise<void> {
    await this.#step('prompts', 1);
    await this.#step('tokens', 1);
  }

  protected async compute(
    kind: StepKind,
    inputs: StepInputs,
    need: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const { firstRow, tokens, temperatures } = inputs;
    const { session, parameters } = await this.#step(kind, tokens.length);
    const cache = this.#cacheOf(firstRow, tokens.length);
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
    const own = fusedFeeds(inputs, session.inputNames, this.contextLength);
    const feeds = { ...parameters(), ...cache.feeds, ...own };
    await session.run(feeds, { into: { ...into, ...cache.into }, fetch: [firstOutput] });
    return { probabilities, logits };
  }

  #cacheOf(firstRow: number, count: number) {
    const key = `${firstRow}+${count}`;
    const known = this.#cacheTensors.get(key);
    if (known !== undefined) return known;
    const tensors = this.rowTensors(firstRow, count);
    if (this.#cacheTensors.size >= CACHED_VIEWS) this.#cacheTensors.clear();
    this.#cacheTensors.set(key, tensors);
    return tensors;
  }

  get #quantized(): boolean {
    return this.options.weights === 'int8' || this.isQuantized;
  }

  /** In 8 bits, one session computes both kinds of steps, so that the weights are in memory once. */
  #step(wanted: StepKind, count: number) {
    const { config, contextLength } = this.options;
    const step = this.#quantized ? 'prompts' : wanted;
    const linear = this.#linear(step, count);
    // Optimisation would swap the operands back.
    const options = {
      graphOptimization: linear === 'swapped' ? 'none' : 'all',
      spinMicroseconds: SPIN_MICROSECONDS,
    } as const;
    return this.step(
      `${step} ${linear}`,
      (weights) => fusedGraph({ config, contextLength, step, linear, ...weights }),
      options,
    );
  }

  #linear(step: StepKind, count: number): LinearOrder {
    const { weights, maxSequences } = this.options;
    if (this.#quantized) return maxSequences <= SWAP_LIMIT ? 'swapped' : 'plain';
    return step === 'tokens' && weights === 'shared' && count <= SWAP_LIMIT ? 'swapped' : 'plain';
  }
}
