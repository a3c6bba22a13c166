import {
  ArgumentError,
  type Completion,
  type InferenceEngine,
  needed,
  parseOptions,
  RandomStream,
  type SampleRequest,
  type Sampler,
  SamplerError,
  type ScoreRequest,
  type SharedWeights,
  type TokenId,
  type Tokenizer,
  type TokenScorer,
  type TokenScores,
  type WeightPublication,
} from '@rlp/core';
import * as z from 'zod';
import { scoreTokens, TabularBackend } from './backend.ts';

/** Dependencies of a tabular sampler. */
export interface TabularSamplerDependencies {
  /** Backend whose published weights it samples from. Required. */
  readonly backend: TabularBackend;
  /** Gives completions their text and end tokens. Default: no text, and only `stopTokens` end a completion. */
  readonly tokenizer?: Tokenizer | undefined;
}

const dependencySchema = z.strictObject({
  backend: z.custom<TabularBackend>((value) => value instanceof TabularBackend, 'must be a TabularBackend'),
  tokenizer: needed.tokenizer.optional(),
} satisfies Record<keyof TabularSamplerDependencies, z.ZodType>);

/**
 * Samples from the published table of a {@link TabularBackend}. Keeps its weights until they are updated.
 *
 * Supports temperature, stop tokens and stop strings. Rejects requests with filters and penalties.
 */
export class TabularSampler implements Sampler, InferenceEngine, TokenScorer {
  readonly #dependencies: TabularSamplerDependencies;
  #logits: Float32Array;
  #version: number;

  /** @throws OptionsError for dependencies that are missing or not known. */
  constructor(dependencies: TabularSamplerDependencies) {
    parseOptions('TabularSampler', dependencySchema, dependencies, 'TabularSamplerDependencies');
    this.#dependencies = dependencies;
    ({ logits: this.#logits, version: this.#version } = dependencies.backend.published);
  }

  readonly accepts = ['shared'] as const;

  get shares(): SharedWeights {
    return this.#dependencies.backend.shares;
  }

  get vocabularySize(): number {
    return this.#dependencies.backend.vocabularySize;
  }

  /** Tokenizer of its text, if there is one. */
  get tokenizer(): Tokenizer | undefined {
    return this.#dependencies.tokenizer;
  }

  get policyVersion(): number {
    return this.#version;
  }

  async sample(request: SampleRequest): Promise<readonly Completion[]> {
    request.signal?.throwIfAborted();
    checkRequest(request);
    this.#dependencies.backend.table.checkTokens('sample: prompt', request.prompt);
    return Array.from({ length: request.count }, (_, member) => this.#complete(request, member));
  }

  #complete(request: SampleRequest, member: number): Completion {
    const { prompt, maxTokens, seed, onToken, stopStrings = [] } = request;
    const { tokenizer } = this.#dependencies;
    const ends = new Set([...(tokenizer?.eosIds ?? []), ...(request.stopTokens ?? [])]);
    const stream = RandomStream.named(seed, member);
    const sequence = [...prompt];
    const behaviorLogprobs: number[] = [];
    const finish = (stopReason: Completion['stopReason'], text: string): Completion => ({
      tokens: sequence.slice(prompt.length),
      behaviorLogprobs,
      text,
      stopReason,
      policyVersion: this.#version,
    });
    for (let t = 0; t < maxTokens; t++) {
      const { token, logprob } = this.#draw(sequence, request.temperature ?? 1, stream.at(t));
      sequence.push(token);
      behaviorLogprobs.push(logprob);
      onToken?.({ member, token, logprob });
      if (ends.has(token)) return finish('stop', this.#decode(sequence.slice(prompt.length, -1)));
      const text = this.#decode(sequence.slice(prompt.length));
      const cut = firstOccurrence(text, stopStrings);
      if (cut !== undefined) return finish('stop', text.slice(0, cut));
    }
    return finish('length', this.#decode(sequence.slice(prompt.length)));
  }

  /** Inverse-CDF sampling. Temperature 0 selects the most likely token. */
  #draw(
    context: readonly TokenId[],
    temperature: number,
    uniform: number,
  ): { token: TokenId; logprob: number } {
    const { table } = this.#dependencies.backend;
    const row = table.rowOf(context, context.length);
    const { logprobs } = table.distribution(row, temperature === 0 ? 1 : temperature, this.#logits);
    if (temperature === 0) {
      const token = logprobs.indexOf(Math.max(...logprobs));
      return { token, logprob: Math.min(0, logprobs[token]!) };
    }
    let token = 0;
    let rest = uniform - Math.exp(logprobs[0]!);
    while (rest >= 0 && token < logprobs.length - 1) rest -= Math.exp(logprobs[++token]!);
    return { token, logprob: Math.min(0, logprobs[token]!) };
  }

  #decode(tokens: readonly TokenId[]): string {
    return this.#dependencies.tokenizer?.decode(tokens) ?? '';
  }

  async updateWeights(publication: WeightPublication, signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    const { published, store } = this.#dependencies.backend;
    const known = publication.kind === 'shared' && publication.engine === this.#dependencies.backend;
    if (!known || publication.version !== published.version) {
      throw new SamplerError(
        `updateWeights: expected version ${published.version} of store "${store}", got version ` +
          `${publication.version} of ${publication.kind === 'shared' ? `store "${publication.store}"` : publication.path}`,
      );
    }
    this.#logits = published.logits;
    this.#version = published.version;
    return this.#version;
  }

  async scoreTokens(
    requests: readonly ScoreRequest[],
    { temperature = 1, signal }: { readonly temperature?: number; readonly signal?: AbortSignal } = {},
  ): Promise<readonly TokenScores[]> {
    signal?.throwIfAborted();
    return requests.map(({ prompt, completion }) => {
      if (prompt.length === 0) throw new ArgumentError('scoreTokens: the prompt must hold a token, got none');
      const { logprobs, entropies } = scoreTokens(
        this.#dependencies.backend.table,
        this.#logits,
        [...prompt, ...completion],
        temperature,
      );
      return { logprobs: logprobs.slice(prompt.length), entropies: entropies.slice(prompt.length) };
    });
  }
}

function checkRequest(request: SampleRequest): void {
  const { prompt, count, maxTokens, topK, topP, minP, repetitionPenalty } = request;
  if (prompt.length === 0) throw new ArgumentError('sample: the prompt must hold a token, got none');
  for (const [name, value] of Object.entries({ count, maxTokens })) {
    if (Number.isInteger(value) && value > 0) continue;
    throw new ArgumentError(`sample: ${name} must be a positive integer, got ${value}`);
  }
  const filters = [topK ?? 0, 1 - (topP ?? 1), minP ?? 0, 1 - (repetitionPenalty ?? 1)];
  if (filters.some((strength) => strength !== 0)) {
    throw new ArgumentError(
      'TabularSampler: topK, topP, minP and repetitionPenalty are not supported; leave them out',
    );
  }
}

function firstOccurrence(text: string, needles: readonly string[]): number | undefined {
  const found = needles.map((needle) => text.indexOf(needle)).filter((at) => at >= 0);
  return found.length === 0 ? undefined : Math.min(...found);
}
