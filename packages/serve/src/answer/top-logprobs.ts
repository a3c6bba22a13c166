import type { TokenId } from '@rlp/core';

/** A token and its logprob. */
export interface TokenLogprob {
  readonly token: TokenId;
  readonly logprob: number;
}

/** Logprobs of all tokens at one place: `ln softmax(logits / temperature)`. Shape: `[V]`. */
export function logprobsOf(logits: Float32Array, temperature: number): Float64Array {
  const scaled = Float64Array.from(logits, (logit) => logit / (temperature === 0 ? 1 : temperature));
  const largest = scaled.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const total = scaled.reduce((sum, value) => sum + Math.exp(value - largest), 0);
  const normalizer = largest + Math.log(total);
  return scaled.map((value) => value - normalizer);
}

/** The `count` likeliest tokens of each of `length` places, best first. Ties go to the lower token. */
export function likeliest(
  { logits, vocabularySize }: { readonly logits: Float32Array; readonly vocabularySize: number },
  { count, temperature }: { readonly count: number; readonly temperature: number },
): TokenLogprob[][] {
  const places = logits.length / vocabularySize;
  return Array.from({ length: places }, (_, t) => {
    const row = logprobsOf(logits.subarray(t * vocabularySize, (t + 1) * vocabularySize), temperature);
    const order = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]! || a - b);
    return order.slice(0, count).map((token) => ({ token, logprob: row[token]! }));
  });
}
