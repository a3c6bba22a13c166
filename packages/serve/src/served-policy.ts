import type { ChatRenderer, InferenceEngine, Sampler, ScoreRequest, Tokenizer, TokenScorer } from '@rlp/core';

/**
 * A policy that can be served. Every `InferenceBackend` of `@rlp/inference` is one.
 *
 * The optional members decide which requests can be answered: `scoreTokens` those for logprobs of prompts, `scoreLogits`
 * those for `top_logprobs`, `updateWeights` those that bring new weights.
 */
export interface ServedPolicy
  extends Sampler,
    Partial<TokenScorer>,
    Partial<Pick<InferenceEngine, 'accepts' | 'updateWeights'>> {
  readonly tokenizer: Tokenizer;
  /** Turns conversations into prompts. Absent for a model without a chat format. */
  readonly renderer?: ChatRenderer | undefined;
  /** Maximum tokens of a prompt and its completion together. */
  readonly contextLength: number;
  /** Tokens that the model knows. At least as many as its tokenizer's. */
  readonly vocabularySize: number;
  /** Logits that given tokens come from, at temperature 1. Shape of `logits`: `[T, V]`. */
  scoreLogits?(
    requests: readonly ScoreRequest[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly { readonly logits: Float32Array; readonly vocabularySize: number }[]>;
}
