import type { TokenId } from '@rlp/core';
import { ApiError } from '../api-error.ts';
import type { ServedPolicy } from '../served-policy.ts';

/** A token and its logprob. */
export interface TokenLogprob {
  readonly token: TokenId;
  readonly logprob: number;
}

/** Tokens whose distributions are asked for. */
export interface DistributionRequest {
  readonly prompt: readonly TokenId[];
  readonly completion: readonly TokenId[];
  /** 0 counts as 1. */
  readonly temperature: number;
  readonly signal: AbortSignal;
}

/** Logits that are held at once, as a number of floats. */
const heldLogits = 2 ** 24;

/**
 * The distributions that the tokens of a completion come from, one after the other, as logprobs of all tokens.
 * Shape: `[T][V]`. Only a part of them is in memory at once.
 */
export async function* distributions(
  policy: Pick<ServedPolicy, 'scoreLogits' | 'vocabularySize'>,
  { prompt, completion, temperature, signal }: DistributionRequest,
): AsyncGenerator<Float64Array, void, undefined> {
  if (policy.scoreLogits === undefined) {
    throw new ApiError(
      400,
      'this server cannot list the likeliest tokens; ask for the logprobs of the tokens only',
    );
  }
  const step = Math.max(1, Math.floor(heldLogits / policy.vocabularySize));
  for (let from = 0; from < completion.length; from += step) {
    const part = {
      prompt: [...prompt, ...completion.slice(0, from)],
      completion: completion.slice(from, from + step),
    };
    const [scored] = await policy.scoreLogits([part], { signal });
    const { logits, vocabularySize } = scored!;
    for (let at = 0; at < logits.length; at += vocabularySize) {
      yield logprobsOf(logits.subarray(at, at + vocabularySize), temperature);
    }
  }
}

/** Logprobs of all tokens at one place: `ln softmax(logits / temperature)`. Shape: `[V]`. */
function logprobsOf(logits: Float32Array, temperature: number): Float64Array {
  const scaled = Float64Array.from(logits, (logit) => logit / (temperature === 0 ? 1 : temperature));
  const largest = scaled.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const total = scaled.reduce((sum, value) => sum + Math.exp(value - largest), 0);
  const normalizer = largest + Math.log(total);
  return scaled.map((value) => value - normalizer);
}

/** The `count` likeliest tokens of a distribution, best first. Ties go to the lower token. */
export function likeliest(logprobs: Float64Array, count: number): TokenLogprob[] {
  const best: TokenLogprob[] = [];
  for (const [token, logprob] of logprobs.entries()) {
    if (best.length === count && logprob <= (best.at(-1)?.logprob ?? Number.POSITIVE_INFINITY)) continue;
    const place = best.findIndex((other) => other.logprob < logprob);
    best.splice(place < 0 ? best.length : place, 0, { token, logprob });
    if (best.length > count) best.pop();
  }
  return best;
}
