import {
  ArgumentError,
  type Completion,
  type SampleRequest,
  type ScoreRequest,
  type TokenId,
  type Tokenizer,
} from '@rlp/core';
import { smallestTemperature } from './sampling/options.ts';

/** Limits of a request. */
export interface RequestLimits {
  readonly tokenizer: Pick<Tokenizer, 'bosId'>;
  readonly contextLength: number;
  /** Size of the model's vocabulary. At least that of its tokenizer. */
  readonly vocabularySize: number;
}

/** @throws ArgumentError for a prompt that is empty, leaves no room for a token, or names tokens that do not exist. */
export function requireFittingPrompt(limits: RequestLimits, prompt: readonly TokenId[]): void {
  const { tokenizer, contextLength } = limits;
  if (prompt.length === 0) {
    const bos = tokenizer.bosId === undefined ? 'at least one token' : `the bos token ${tokenizer.bosId}`;
    throw new ArgumentError(`sample: the prompt is empty; begin it with ${bos}`);
  }
  if (prompt.length >= contextLength) {
    throw new ArgumentError(
      `sample: the prompt has ${prompt.length} tokens, but the context holds ${contextLength} and one must be left to sample; shorten the prompt or raise contextLength`,
    );
  }
  requireKnownTokens('sample', limits, prompt);
}

/**
 * @throws ArgumentError for a request without prompt, longer than the context, or with tokens that do not exist, and for a
 * temperature that is not positive.
 */
export function requireScorable(
  limits: RequestLimits,
  requests: readonly ScoreRequest[],
  temperature = 1,
): void {
  if (!(temperature >= smallestTemperature)) {
    throw new ArgumentError(
      `scoreTokens: temperature must be at least ${smallestTemperature}, got ${temperature}`,
    );
  }
  for (const request of requests) requireFittingPair(limits, request);
}

function requireFittingPair(limits: RequestLimits, { prompt, completion }: ScoreRequest): void {
  if (prompt.length === 0) {
    throw new ArgumentError(
      'scoreTokens: the prompt is empty, so the first token has nothing to be predicted from; begin it with a bos token',
    );
  }
  const length = prompt.length + completion.length;
  if (length > limits.contextLength) {
    throw new ArgumentError(
      `scoreTokens: prompt and completion have ${length} tokens together, but the context holds ${limits.contextLength}; shorten them, or raise contextLength`,
    );
  }
  requireKnownTokens('scoreTokens', limits, prompt);
  requireKnownTokens('scoreTokens', limits, completion);
}

function requireKnownTokens(
  owner: string,
  { vocabularySize }: RequestLimits,
  tokens: readonly TokenId[],
): void {
  const unknown = tokens.find((token) => !Number.isInteger(token) || token < 0 || token >= vocabularySize);
  if (unknown === undefined) return;
  throw new ArgumentError(
    `${owner}: token ${unknown} is outside the vocabulary of ${vocabularySize} tokens; encode the text with this model's tokenizer`,
  );
}

/** Reports each token of completions that arrived whole. */
export function reportTokens(
  completions: readonly Completion[],
  onToken: NonNullable<SampleRequest['onToken']>,
): void {
  for (const [member, { tokens, behaviorLogprobs }] of completions.entries()) {
    for (const [t, token] of tokens.entries()) onToken({ member, token, logprob: behaviorLogprobs[t]! });
  }
}
