import type { PublicationForm, SharedWeights, WeightPublication } from './publication.ts';
import type { StopReason, TokenId } from './trajectory.ts';

/** How tokens are drawn from the policy's distribution. Filters apply in the order of the fields. */
export interface SamplingOptions {
  /** Maximum new tokens of a completion. */
  readonly maxTokens: number;
  /** Softmax temperature. Default 1. `0` takes the most likely token. Logprobs are reported at this temperature. */
  readonly temperature?: number | undefined;
  /** ≥ 1. Divides positive and multiplies negative logits of tokens already in the sequence. Default 1 (off). */
  readonly repetitionPenalty?: number | undefined;
  /** Keeps the `topK` most likely tokens. Default 0 (off). */
  readonly topK?: number | undefined;
  /** Keeps the smallest set of tokens whose probabilities sum to at least `topP`. Default 1 (off). */
  readonly topP?: number | undefined;
  /** Drops tokens less likely than `minP` times the most likely one. Default 0 (off). */
  readonly minP?: number | undefined;
  /** Ends the completion with any of these tokens, besides the model's own end tokens. Default none. */
  readonly stopTokens?: readonly TokenId[] | undefined;
  /** Ends the completion when its text contains one of these. Default none. */
  readonly stopStrings?: readonly string[] | undefined;
}

/** A request for completions of one prompt. */
export interface SampleRequest extends SamplingOptions {
  /** Shape: `[P]`. */
  readonly prompt: readonly TokenId[];
  /** How many independent completions. They share one prefill. */
  readonly count: number;
  /**
   * Names the random streams. Member `m` draws token `t` from the stream `(seed, m)` at counter `t`, so what else is
   * in the batch never changes a draw. Equal seeds give equal completions of equal weights, up to float rounding.
   */
  readonly seed: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with each token as it is sampled. */
  readonly onToken?: ((event: { member: number; token: TokenId; logprob: number }) => void) | undefined;
}

/** What one policy sampled in answer to one prompt. */
export interface Completion {
  /** Includes the stop token, if one ended it. Shape: `[T]`. */
  readonly tokens: readonly TokenId[];
  /**
   * `ln π_b(tokens[t] | prompt, tokens[<t])` at the sampling temperature, over the full vocabulary, **before**
   * top-k, top-p and min-p (what a trainer can recompute). Natural log, never positive. Shape: `[T]`.
   */
  readonly behaviorLogprobs: readonly number[];
  /** Decoded text, without the stop token and cut before a stop string. */
  readonly text: string;
  readonly stopReason: StopReason;
  /** Weights that sampled this. */
  readonly policyVersion: number;
}

/** A policy to draw completions from. Drivers implement it. Rollouts consume it. */
export interface Sampler {
  /** Version of the weights that the next request is sampled with. */
  readonly policyVersion: number;
  /** Most tokens a prompt and its completion have together. Default: unknown. */
  readonly contextLength?: number | undefined;
  /**
   * Draws `count` independent completions of one prompt.
   *
   * Resolves with exactly `count` completions. A partial group would bias its advantages.
   * Concurrent requests are batched together. Rejects with the signal's reason once aborted, with an
   * `ArgumentError` for a prompt that does not fit the context, else with a `SamplerError`.
   */
  sample(request: SampleRequest): Promise<readonly Completion[]>;
}

/** Tokens whose probabilities are asked for. */
export interface ScoreRequest {
  readonly prompt: readonly TokenId[];
  readonly completion: readonly TokenId[];
}

/** Probabilities of given tokens. */
export interface TokenScores {
  /** `ln π(completion[t] | prompt, completion[<t])`. Shape: `[T]`. */
  readonly logprobs: Float32Array;
  /** Entropy in nats of the distribution that `completion[t]` came from. NaN if the scorer cannot know it. Shape: `[T]`. */
  readonly entropies: Float32Array;
}

/** Gives probabilities of given text, without sampling. */
export interface TokenScorer {
  scoreTokens(
    requests: readonly ScoreRequest[],
    options?: { readonly temperature?: number; readonly signal?: AbortSignal },
  ): Promise<readonly TokenScores[]>;
}

/** The receiving side of weight synchronisation. */
export interface InferenceEngine {
  /** Forms of publication that it can take over. */
  readonly accepts: readonly PublicationForm[];
  /** How to make it accept the other forms, such as `start it with --enable-lora`. Default: unknown. */
  readonly refusals?: Readonly<Partial<Record<PublicationForm, string>>> | undefined;
  /** Where it reads `shared` weights. */
  readonly shares?: SharedWeights | undefined;
  /** Tokens that its policy knows. */
  readonly vocabularySize?: number | undefined;
  /**
   * Bytes of host memory that sequences of so many tokens take while they are sampled. Default: unknown.
   *
   * @param sequences - How many are sampled. Default: as many as it samples at once.
   */
  cacheBytes?(tokens: number, sequences?: number): number;
  /** Bytes of host memory of its own copy of the weights. 0 if it reads those of a trainer in place. Default: unknown. */
  readonly weightBytes?: number | undefined;
  /**
   * Takes over new weights. Resolves once every later request is sampled with them, with the version now in force.
   * Rejects with a `SamplerError` and keeps the old weights otherwise.
   */
  updateWeights(publication: WeightPublication, signal?: AbortSignal): Promise<number>;
}
