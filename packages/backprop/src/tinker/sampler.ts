import {
  ArgumentError,
  allWithSignals,
  type Completion,
  type InferenceEngine,
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
  TrainingError,
  type WeightPublication,
} from '@rlp/core';
import { failureSentence, RequestError } from '@rlp/http/client';
import { CompletionText, completionText } from '@rlp/models';
import * as z from 'zod';
import { TinkerBackend } from './backend.ts';
import { tinkerWords } from './session.ts';
import { modelInput, sampleSchema } from './wire.ts';

const schema = z.strictObject({
  /** Backend whose published weights it samples from. Required. */
  backend: z.instanceof(TinkerBackend, { error: 'must be a backend of createTinkerBackend' }),
  /** Tokenizer of the model. Required. */
  tokenizer: z.custom<Tokenizer>(
    (value) => typeof (value as { decode?: unknown } | null)?.decode === 'function',
    'must be a tokenizer; loadTokenizer of @rlp/models reads one from the folder of the model',
  ),
  /** Most tokens of a prompt with its completion. Default 32 768. */
  contextLength: z.int().positive().default(32_768),
});

/** Options of {@link createTinkerSampler}. */
export interface TinkerSamplerOptions extends z.input<typeof schema> {}

/**
 * Samples on the server of a {@link TinkerBackend}, at temperature 1 or 0. Takes weights over by the path that the backend published.
 *
 * @throws OptionsError naming every problem at once.
 */
export function createTinkerSampler(options: TinkerSamplerOptions): Sampler & TokenScorer & InferenceEngine {
  return new TinkerSampler(parseOptions('createTinkerSampler', schema, options));
}

class TinkerSampler implements Sampler, TokenScorer, InferenceEngine {
  readonly accepts = ['shared'] as const;
  readonly tokenizer: Tokenizer;
  readonly contextLength: number;
  readonly #backend: TinkerBackend;
  #version: number;
  #path: string | undefined;

  constructor({ backend, tokenizer, contextLength }: z.output<typeof schema>) {
    this.#backend = backend;
    this.#path = backend.publishedPath;
    // Before a publication it samples from the base model.
    this.#version = this.#path === undefined ? 0 : backend.weightVersion;
    this.tokenizer = tokenizer;
    this.contextLength = contextLength;
  }

  get shares(): SharedWeights {
    return this.#backend.shares;
  }

  get vocabularySize(): number {
    return this.#backend.vocabularySize;
  }

  get policyVersion(): number {
    return this.#version;
  }

  async sample(request: SampleRequest): Promise<readonly Completion[]> {
    const { signal, prompt, onToken } = request;
    signal?.throwIfAborted();
    this.#check(request);
    const ends = [...new Set([...this.tokenizer.eosIds, ...(request.stopTokens ?? [])])];
    const version = this.#version;
    const maxTokens = Math.min(request.maxTokens, this.contextLength - prompt.length);
    const sampling_params = {
      ...{ max_tokens: maxTokens, temperature: request.temperature ?? 1, stop: ends },
      ...{ top_p: request.topP ?? 1, top_k: request.topK || -1 },
      seed: RandomStream.named('tinker sampler', request.seed).integer(2 ** 31),
    };
    const answer = await this.#ask({ num_samples: request.count, prompt, sampling_params }, signal);
    if (answer.sequences.length !== request.count) {
      throw this.#unusable(`${request.count} completions`, answer.sequences.length, remedies.protocol);
    }
    return answer.sequences.map((sequence, member) => {
      const completion = this.#completion(sequence, { request, ends, maxTokens, version });
      for (const [t, token] of completion.tokens.entries()) {
        onToken?.({ member, token, logprob: completion.behaviorLogprobs[t]! });
      }
      return completion;
    });
  }

  #completion(
    { tokens, logprobs, stop_reason }: z.output<typeof sampleSchema>['sequences'][number],
    given: {
      readonly request: SampleRequest;
      readonly ends: readonly TokenId[];
      readonly maxTokens: number;
      readonly version: number;
    },
  ): Completion {
    const { request, ends, maxTokens, version } = given;
    if (tokens.length === 0 || tokens.length > maxTokens) {
      throw this.#unusable(`1 to ${maxTokens} tokens of a completion`, tokens.length, remedies.protocol);
    }
    const foreign = tokens.find((token) => token < 0 || token >= this.vocabularySize);
    if (foreign !== undefined) {
      throw this.#unusable(`tokens below ${this.vocabularySize}`, foreign, remedies.tokenizer);
    }
    if (logprobs?.length !== tokens.length || !logprobs.every(isLogprob)) {
      const got = logprobs?.find((x) => !isLogprob(x)) ?? `${logprobs?.length ?? 0} of them`;
      throw this.#unusable(`${tokens.length} natural logarithms of probabilities`, got, remedies.logprobs);
    }
    const text = { tokenizer: this.tokenizer, prompt: request.prompt, endTokens: ends };
    const options = { ...text, stopStrings: request.stopStrings ?? [] };
    const watch = new CompletionText(options);
    const stop = tokens.findIndex((token) => watch.push(token).state === 'stopped');
    const kept = stop < 0 ? tokens : tokens.slice(0, stop + 1);
    return {
      tokens: kept,
      behaviorLogprobs: logprobs.slice(0, kept.length).map((logprob) => Math.min(0, logprob)),
      text: completionText(kept, options),
      stopReason: stop >= 0 || stop_reason === 'stop' ? 'stop' : 'length',
      policyVersion: version,
    };
  }

  /** Logprobs of given tokens, from the logprobs of prompts. Entropies are unknown (NaN). SkyRL 0.3 on JAX computes none. */
  async scoreTokens(
    requests: readonly ScoreRequest[],
    { temperature = 1, signal }: Parameters<TokenScorer['scoreTokens']>[1] = {},
  ): Promise<readonly TokenScores[]> {
    signal?.throwIfAborted();
    if (temperature !== 1) {
      throw new ArgumentError(
        `scoreTokens: Tinker's protocol scores at temperature 1, got ${temperature}; leave it out`,
      );
    }
    for (const { prompt, completion } of requests) this.#checkScored(prompt, completion);
    return allWithSignals(requests, [signal], async ({ prompt, completion }, open) => {
      const tokens = [...prompt, ...completion];
      const sampling_params = { max_tokens: 1, temperature: 1, seed: 0 };
      const logprobs = (await this.#ask({ prompt: tokens, sampling_params, prompt_logprobs: true }, open))
        .prompt_logprobs;
      const scored = logprobs?.slice(prompt.length) ?? [];
      if (logprobs?.length !== tokens.length || !scored.every((x) => x !== null && isLogprob(x))) {
        throw this.#unusable(
          `logprobs of ${tokens.length} tokens of a prompt`,
          `${logprobs?.length ?? 'none'}`,
          remedies.logprobs,
        );
      }
      const entropies = new Float32Array(completion.length).fill(Number.NaN);
      return { logprobs: Float32Array.from(scored, (x) => Math.min(0, x!)), entropies };
    });
  }

  #checkScored(prompt: readonly TokenId[], completion: readonly TokenId[]): void {
    const tokens = [...prompt, ...completion];
    // One token is sampled behind them, because the protocol scores nothing else.
    if (prompt.length === 0 || tokens.length >= this.contextLength) {
      throw new ArgumentError(
        `scoreTokens: expected a prompt of at least one token, and below ${this.contextLength} tokens with the completion, got ${prompt.length} and ${completion.length}`,
      );
    }
    this.#requireKnown('scoreTokens', tokens);
  }

  #requireKnown(owner: string, tokens: readonly TokenId[]): void {
    const foreign = tokens.find((t) => !(Number.isInteger(t) && t >= 0 && t < this.vocabularySize));
    if (foreign === undefined) return;
    throw new ArgumentError(
      `${owner}: token ${foreign} is outside the vocabulary of ${this.vocabularySize}; encode with the tokenizer of the base model`,
    );
  }

  /** Sends a request to sample with the weights in force. */
  async #ask(
    { prompt, ...body }: { readonly prompt: readonly TokenId[]; readonly [field: string]: unknown },
    signal: AbortSignal | undefined,
  ): Promise<z.output<typeof sampleSchema>> {
    const { session, baseModel } = this.#backend;
    const weights = this.#path === undefined ? { base_model: baseModel } : { model_path: this.#path };
    const request = { num_samples: 1, ...body, prompt: modelInput(prompt), ...weights, type: 'sample' };
    return session.call('/asample', request, sampleSchema, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw explained(error);
    });
  }

  #unusable(expected: string, got: string | number, remedy: string): SamplerError {
    const { place } = this.#backend.session;
    return new SamplerError(`sample: ${place}: expected ${expected}, got ${got}; ${remedy}`);
  }

  #check({
    prompt,
    count,
    maxTokens,
    temperature = 1,
    minP = 0,
    repetitionPenalty = 1,
  }: SampleRequest): void {
    for (const [name, value] of Object.entries({ count, maxTokens })) {
      if (Number.isInteger(value) && value > 0) continue;
      throw new ArgumentError(`sample: ${name} must be a positive integer, got ${value}`);
    }
    if (prompt.length === 0 || prompt.length >= this.contextLength) {
      throw new ArgumentError(
        `sample: expected a prompt of 1 to ${this.contextLength - 1} tokens, got ${prompt.length}`,
      );
    }
    this.#requireKnown('sample', prompt);
    if (minP !== 0 || repetitionPenalty !== 1) {
      throw new ArgumentError(
        "sample: Tinker's protocol has no minP and no repetitionPenalty; leave them out",
      );
    }
    if (temperature !== 1 && temperature !== 0) {
      throw new ArgumentError(
        `sample: a Tinker backend computes logprobs at temperature 1, got ${temperature}; sample at 1, or at 0 to evaluate`,
      );
    }
  }

  async updateWeights(publication: WeightPublication, signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    const { session, publishedPath, weightVersion } = this.#backend;
    const isOurs = publication.kind === 'shared' && publication.engine === session;
    if (!isOurs || publication.version !== weightVersion || publishedPath === undefined) {
      throw new SamplerError(
        `updateWeights: expected version ${weightVersion} of the backend's session, got version ${publication.version} as ${publication.kind}; publish again, as after each loadCheckpoint`,
      );
    }
    this.#path = publishedPath;
    this.#version = publication.version;
    return this.#version;
  }
}

/** What to do about answers that do not fit their requests. */
const remedies = {
  protocol: 'check the version of the server, which does not keep to its protocol',
  logprobs: 'check the version of the server and that it computes logprobs',
  tokenizer: 'check that the server serves the model of the tokenizer',
} as const;

/** Whether a number can be a logprob. Rounding may bring that of a certain token above 0. */
function isLogprob(x: number): boolean {
  return x <= 1e-3;
}

function explained(error: unknown): unknown {
  if (error instanceof RequestError) {
    const reason = failureSentence(error, { ...tinkerWords, less: 'sample less at once' });
    return new SamplerError(`sample: ${reason}`, { cause: error });
  }
  return error instanceof TrainingError
    ? new SamplerError(`sample: ${error.message}`, { cause: error })
    : error;
}
