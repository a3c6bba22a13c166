import { EngineError, type TokenId } from '@rlp/core';
import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { DrawnTokens, LogitsNeed, ManagedDecoder, NextTokenDistributions } from './cached-decoder.ts';
import { DeviceCache } from './device-cache.ts';
import { type StepInputs, stepFeeds, tokenFeeds } from './device-feeds.ts';
import { type DeviceCacheSizes, deviceGraph } from './device-graph.ts';
import { fusedGraph } from './fused-graph.ts';
import type { StepOutput } from './step-outputs.ts';
import { type Step, StoredDecoder } from './stored-decoder.ts';

/** A step of any length in any rows, or of one token in each of the first rows, with grouped-query attention. */
type StepKind = 'any' | 'tokens';

/**
 * Decoding on a device: weights and cache stay in its memory. A step sends tokens, and returns distributions or the tokens that it drew.
 */
export class DeviceDecoder extends StoredDecoder implements ManagedDecoder {
  readonly #steps = new Map<string, Promise<Step>>();
  #cache: DeviceCache | undefined;

  async prepare(): Promise<void> {
    this.#cache = await DeviceCache.create(this.host, this.#sizes);
    await this.half?.convert();
    await this.#step('any', 'distributions');
    await this.#step(this.#tokenKind, 'draws');
  }

  prefill(
    firstRow: number,
    prompts: readonly (readonly TokenId[])[],
    temperatures: readonly number[],
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const inputs = { firstRow, tokens: prompts, lengths: prompts.map(() => 0), temperatures };
    return this.#distributions('any', inputs, logits);
  }

  decode(
    tokens: readonly TokenId[],
    positions: readonly number[],
    temperatures: readonly number[],
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    return this.#distributions(this.#tokenKind, oneEach(tokens, positions, temperatures), logits);
  }

  async decodeDrawn(
    tokens: readonly TokenId[],
    positions: readonly number[],
    temperatures: readonly number[],
    uniforms: readonly number[],
  ): Promise<DrawnTokens> {
    const outputs = await this.#run({
      ...{ kind: this.#tokenKind, output: 'draws', inputs: oneEach(tokens, positions, temperatures) },
      fetch: ['drawn', 'drawn_probabilities'],
      extra: { uniforms: new Tensor('float32', Float32Array.from(uniforms), [uniforms.length, 1]) },
    });
    return {
      tokens: [...(outputs.drawn!.data as Float32Array)],
      probabilities: outputs.drawn_probabilities!.data as Float32Array,
    };
  }

  extend(
    row: number,
    length: number,
    tokens: readonly TokenId[],
    temperature: number,
    logits: LogitsNeed,
    last: number,
  ): Promise<NextTokenDistributions> {
    const temperatures = new Array<number>(last).fill(temperature);
    const inputs = { firstRow: row, tokens: [tokens], lengths: [length], temperatures };
    return this.#distributions('any', inputs, logits);
  }

  copyRow(from: number, to: number): void {
    this.#cache!.copyRow(from, to);
  }

  get positionBytes(): number {
    const { layers, keyValueHeads, headDimension } = this.options.config;
    return 2 * layers * keyValueHeads * headDimension * Float32Array.BYTES_PER_ELEMENT;
  }

  saveRow(): void {
    throw noPrefixes();
  }

  loadRow(): void {
    throw noPrefixes();
  }

  async close(): Promise<void> {
    const steps = await Promise.all(this.#steps.values());
    this.#steps.clear();
    for (const { session } of steps) await session.release();
    await this.half?.close();
    await this.#cache?.close();
  }

  override async refresh(): Promise<void> {
    await this.half?.convert();
  }

  get #sizes(): DeviceCacheSizes {
    const { config, contextLength, maxSequences } = this.options;
    return { config, contextLength, maxSequences, type: this.half ? 'float16' : 'float32' };
  }

  /** CUDA's grouped-query attention has no float32. */
  get #tokenKind(): StepKind {
    const { operators, config } = this.options;
    const hasAttention = operators === 'portable' || (operators === 'fused' && this.half !== undefined);
    return hasAttention && config.headDimension % 8 === 0 ? 'tokens' : 'any';
  }

  async #distributions(
    kind: StepKind,
    inputs: StepInputs,
    need: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const fetch = need === 'needed' ? ['probabilities', 'logits'] : ['probabilities'];
    const outputs = await this.#run({ kind, output: 'distributions', inputs, fetch, extra: {} });
    return {
      probabilities: outputs.probabilities!.data as Float32Array,
      logits: outputs.logits?.data as Float32Array | undefined,
    };
  }

  async #run(step: {
    readonly kind: StepKind;
    readonly output: StepOutput;
    readonly inputs: StepInputs;
    readonly fetch: readonly string[];
    readonly extra: Tensors;
  }): Promise<Tensors> {
    const { kind, inputs, fetch, extra } = step;
    const cache = this.#cache!;
    await cache.settle();
    const { session, parameters } = await this.#step(kind, step.output);
    const own = kind === 'tokens' ? tokenFeeds(inputs) : stepFeeds(inputs, this.#sizes);
    const rows = kind === 'tokens' ? cache.firstRows(inputs.tokens.length) : cache.tensors;
    const all: Tensors = { ...parameters(), ...rows, ...own, ...extra };
    const feeds = Object.fromEntries(session.inputNames.map((name) => [name, all[name]!]));
    const into = Object.fromEntries(Object.entries(rows).map(([name, tensor]) => [`new_${name}`, tensor]));
    return session.run(feeds, { fetch, into });
  }

  #step(kind: StepKind, output: StepOutput): Promise<Step> {
    const key = `${kind} ${output}`;
    const known = this.#steps.get(key);
    if (known) return known;
    const step = this.#openStep(kind, output);
    this.#steps.set(key, step);
    step.catch(() => this.#steps.delete(key));
    return step;
  }

  #openStep(kind: StepKind, output: StepOutput): Promise<Step> {
    const { config, contextLength, operators: ops } = this.options;
    const { type } = this.#sizes;
    if (kind === 'any') {
      return this.open((parameter, product) =>
        deviceGraph({ ...this.#sizes, ops, output, parameter, product }),
      );
    }
    const shape = {
      config,
      contextLength: contextLength + 1,
      step: 'tokens',
      linear: 'plain',
      type,
    } as const;
    return this.open((parameter, product) => fusedGraph({ ...shape, output, parameter, product }));
  }
}

function oneEach(
  tokens: readonly TokenId[],
  lengths: readonly number[],
  temperatures: readonly number[],
): StepInputs {
  return { firstRow: 0, tokens: tokens.map((token) => [token]), lengths, temperatures };
}

/** The sampler refuses the option that needs it. */
function noPrefixes(): EngineError {
  return new EngineError(
    'keys and values on a device cannot be kept for later prompts; set prefixCacheBytes to 0',
  );
}
