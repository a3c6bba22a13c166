import { EngineError } from '@rlp/core';
import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type {
  DrawnTokens,
  LogitsNeed,
  ManagedDecoder,
  NextTokenDistributions,
  NextTokens,
} from './cached-decoder.ts';
import { DeviceCache, inPlace } from './device-cache.ts';
import { deviceFeeds } from './device-feeds.ts';
import { type DeviceCacheSizes, deviceGraph } from './device-graph.ts';
import { fusedFeeds } from './fused-feeds.ts';
import { fusedGraph } from './fused-graph.ts';
import { feedsOf, floats, oneTokenEach, type StepInputs, type StepKind } from './step-inputs.ts';
import type { StepOutput } from './step-outputs.ts';
import { StoredDecoder } from './stored-decoder.ts';

/** Decoding on a device. Weights and cache stay in its memory. A step sends tokens and returns distributions or drawn tokens. */
export class DeviceDecoder extends StoredDecoder implements ManagedDecoder {
  #cache: DeviceCache | undefined;

  async prepare(): Promise<void> {
    this.#cache = await DeviceCache.create(this.host, this.#sizes);
    await this.half?.convert();
    await this.#step('prompts', 'distributions');
    await this.#step('tokens', 'draws');
  }

  async decodeDrawn(next: NextTokens, uniforms: readonly number[]): Promise<DrawnTokens> {
    const outputs = await this.#run({
      ...{ kind: 'tokens', output: 'draws', inputs: oneTokenEach(next) },
      fetch: ['drawn', 'drawn_probabilities'],
      extra: { uniforms: new Tensor('float32', Float32Array.from(uniforms), [uniforms.length, 1]) },
    });
    return {
      tokens: [...floats(outputs, 'drawn')],
      probabilities: floats(outputs, 'drawn_probabilities'),
    };
  }

  protected async compute(
    kind: StepKind,
    inputs: StepInputs,
    need: LogitsNeed,
  ): Promise<NextTokenDistributions> {
    const fetch = need === 'needed' ? ['probabilities', 'logits'] : ['probabilities'];
    const outputs = await this.#run({ kind, output: 'distributions', inputs, fetch, extra: {} });
    return {
      probabilities: floats(outputs, 'probabilities'),
      logits: need === 'needed' ? floats(outputs, 'logits') : undefined,
    };
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

  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      try {
        await this.half?.close();
      } finally {
        await this.#cache?.close();
      }
    }
  }

  override async refresh(): Promise<void> {
    await this.half?.convert();
  }

  get #sizes(): DeviceCacheSizes {
    const { config, contextLength, maxSequences } = this.options;
    return { config, contextLength, maxSequences, type: this.half ? 'float16' : 'float32' };
  }

  /** Whether steps of one token run with grouped-query attention. CUDA's has no float32. */
  get #hasTokenSteps(): boolean {
    const { operators, config } = this.options;
    const hasAttention = operators === 'portable' || (operators === 'fused' && this.half !== undefined);
    return hasAttention && config.headDimension % 8 === 0;
  }

  async #run(step: {
    readonly kind: StepKind;
    readonly output: StepOutput;
    readonly inputs: StepInputs;
    readonly fetch: readonly string[];
    readonly extra: Tensors;
  }): Promise<Tensors> {
    const { inputs, fetch, extra } = step;
    const cache = this.#cache!;
    await cache.settle();
    const { session, parameters } = await this.#step(step.kind, step.output);
    const isFused = step.kind === 'tokens' && this.#hasTokenSteps;
    const own = isFused
      ? fusedFeeds(inputs, session.inputNames, this.contextLength)
      : deviceFeeds(inputs, this.#sizes);
    const rows = isFused ? cache.firstRows(inputs.tokens.length) : cache.tensors;
    const feeds = { ...parameters(), ...rows, ...own, ...extra };
    return session.run(feedsOf(session, feeds), { fetch, into: inPlace(rows) });
  }

  #step(kind: StepKind, output: StepOutput) {
    const { config, contextLength, operators: ops } = this.options;
    const sizes = this.#sizes;
    if (kind === 'prompts' || !this.#hasTokenSteps) {
      return this.step(`prompts ${output}`, (weights) => deviceGraph({ ...sizes, ops, output, ...weights }));
    }
    const shape = { config, contextLength: contextLength + 1, linear: 'plain', type: sizes.type } as const;
    return this.step(`tokens ${output}`, (weights) =>
      fusedGraph({ ...shape, step: 'tokens', output, ...weights }),
    );
  }
}

/** The sampler refuses the option that needs it. */
function noPrefixes(): EngineError {
  return new EngineError(
    'keys and values on a device cannot be kept for later prompts; set prefixCacheBytes to 0',
  );
}
