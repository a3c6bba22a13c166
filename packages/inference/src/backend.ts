import type {
  ChatRenderer,
  InferenceEngine,
  Sampler,
  ScoreRequest,
  TokenId,
  Tokenizer,
  TokenScorer,
} from '@rlp/core';

/** Full logits of the positions that a completion's tokens come from. */
export interface TokenLogits {
  /** `logits[t · V + v]` is token `v`'s logit for position `t` of the completion, at temperature 1. Shape: `[T, V]`. */
  readonly logits: Float32Array;
  readonly vocabularySize: number;
}

/** Options of a scoring call. */
export interface ScoreOptions {
  /** Softmax temperature. Default 1. */
  readonly temperature?: number;
  /** Signal that stops scoring. The promise rejects with its reason. Default none. */
  readonly signal?: AbortSignal;
}

/** A policy that {@link InferenceModule} wraps in a text interface. */
export interface InferenceBackend extends Sampler, TokenScorer, InferenceEngine {
  readonly tokenizer: Tokenizer;
  /** Turns conversations into prompts. Absent if the model has no chat format. */
  readonly renderer?: ChatRenderer | undefined;
  /** Maximum tokens of a prompt and its completion together. */
  readonly contextLength: number;
  /** Size of the model's vocabulary. At least that of its tokenizer. */
  readonly vocabularySize: number;
  /** Full logits of given text, `T · V` numbers for each request. */
  scoreLogits(
    requests: readonly ScoreRequest[],
    options?: Omit<ScoreOptions, 'temperature'>,
  ): Promise<readonly TokenLogits[]>;
  /** Frees what the backend holds. Later calls reject. Idempotent. */
  close(): Promise<void>;
}

/** Tokens that end a completion: the tokenizer's own and a request's. */
export function endTokens(tokenizer: Tokenizer, stopTokens: readonly TokenId[] = []): TokenId[] {
  return [...new Set([...tokenizer.eosIds, ...stopTokens])];
}
