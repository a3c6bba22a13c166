import { hash } from 'node:crypto';
import {
  type ChatRenderer,
  type Completion,
  type SampleRequest,
  type SamplingOptions,
  type TokenId,
  type Tokenizer,
  withSignals,
} from '@rlp/core';
import type { ServedPolicy } from '../served-policy.ts';

/** What a {@link CapturedPolicy} was asked for and what it sampled. */
export interface Drawn {
  readonly completions: readonly Completion[];
  /** Milliseconds that it took. Absent without a clock. */
  readonly sampleMs?: number | undefined;
}

/** How a {@link CapturedPolicy} samples. */
export interface CapturedPolicyOptions {
  readonly policy: ServedPolicy;
  readonly renderer: ChatRenderer | undefined;
  readonly sampling: SamplingOptions;
  readonly contextLength: number;
  /** Names the random streams. */
  readonly path: readonly (string | number)[];
  /** Ends all requests. */
  readonly signal: AbortSignal;
  readonly clock: (() => number) | undefined;
}

/**
 * The policy as one episode sees it: it draws from streams of the episode's name, and remembers what it drew.
 *
 * A stream is named by the prompt and by how often it was asked, so requests that run in parallel draw the same whatever their order.
 */
export class CapturedPolicy implements ServedPolicy {
  readonly contextLength: number;
  readonly renderer: ChatRenderer | undefined;
  readonly scoreTokens?: NonNullable<ServedPolicy['scoreTokens']>;
  readonly scoreLogits?: NonNullable<ServedPolicy['scoreLogits']>;
  readonly #options: CapturedPolicyOptions;
  readonly #drawn = new WeakMap<readonly TokenId[], Drawn>();
  readonly #asked = new Map<string, number>();
  readonly #thrown = new Set<unknown>();

  constructor(options: CapturedPolicyOptions) {
    this.#options = options;
    this.contextLength = options.contextLength;
    this.renderer = options.renderer;
    const { policy } = options;
    if (policy.scoreTokens) this.scoreTokens = (...given) => policy.scoreTokens!(...given);
    if (policy.scoreLogits) this.scoreLogits = (...given) => policy.scoreLogits!(...given);
  }

  get policyVersion(): number {
    return this.#options.policy.policyVersion;
  }

  get tokenizer(): Tokenizer {
    return this.#options.policy.tokenizer;
  }

  get vocabularySize(): number {
    return this.#options.policy.vocabularySize;
  }

  async sample(request: SampleRequest): Promise<readonly Completion[]> {
    const { policy, sampling, signal, clock } = this.#options;
    const begun = clock?.();
    const stopStrings = [...(request.stopStrings ?? []), ...(sampling.stopStrings ?? [])];
    const maxTokens = Math.min(request.maxTokens, sampling.maxTokens);
    const seed = this.#seedOf(request.prompt);
    const own = { ...request, maxTokens, seed, ...(stopStrings.length > 0 && { stopStrings }) };
    const completions = await withSignals([request.signal, signal], async (either) => {
      try {
        return await policy.sample({ ...own, signal: either });
      } catch (error) {
        if (!either.aborted) this.#thrown.add(error);
        throw error;
      }
    });
    const sampleMs = begun === undefined ? undefined : clock!() - begun;
    this.#drawn.set(request.prompt, { completions, sampleMs });
    return completions;
  }

  /** Whether the policy failed with this very error, and was not stopped. */
  threw(error: unknown): boolean {
    return this.#thrown.has(error);
  }

  /** What was drawn for this very prompt. */
  drawn(prompt: readonly TokenId[]): Drawn | undefined {
    return this.#drawn.get(prompt);
  }

  #seedOf(prompt: readonly TokenId[]): string {
    const name = hash('sha256', JSON.stringify(prompt));
    const repetition = this.#asked.get(name) ?? 0;
    this.#asked.set(name, repetition + 1);
    return JSON.stringify([...this.#options.path, name, repetition]);
  }
}
