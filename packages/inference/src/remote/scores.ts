import type { TokenId, TokenScores } from '@rlp/core';
import type { TokenLogits } from '../backend.ts';
import { type AnswerLimits, mostLogprob, remedies, unusable } from './checked-sequences.ts';
import type { RemoteScores } from './remote-server.ts';

/**
 * Scores of the tokens from position `from` on. Entropies are NaN without whole distributions.
 *
 * @throws RequestError for scores that are missing or not logarithms of probabilities.
 */
export function scoresAt(
  { logprobs, full }: RemoteScores,
  from: number,
  tokens: readonly TokenId[],
  { temperature, ...limits }: AnswerLimits & { readonly temperature: number },
): TokenScores {
  requirePositions(logprobs, tokens, limits);
  const count = tokens.length - from;
  const scores = { logprobs: new Float32Array(count), entropies: new Float32Array(count).fill(Number.NaN) };
  for (let t = 0; t < count; t++) {
    const distribution = full?.[from + t];
    const logprob = logprobs[from + t];
    if (logprob === undefined || !(logprob <= mostLogprob)) {
      throw unusable(
        limits,
        `expected the logprob of prompt token ${from + t}, got ${logprob}`,
        remedies.logprobs,
      );
    }
    scores.logprobs[t] = Math.min(0, logprob);
    if (distribution === undefined) continue;
    const { logprob: tempered, entropy } = atTemperature(distribution, tokens[from + t]!, temperature);
    scores.logprobs[t] = tempered;
    scores.entropies[t] = entropy;
  }
  return scores;
}

/**
 * Logprobs of the whole vocabulary at the positions from `from` on.
 *
 * @throws RequestError for a position without them.
 */
export function logitsAt(
  { logprobs, full }: RemoteScores,
  from: number,
  tokens: readonly TokenId[],
  limits: AnswerLimits,
): TokenLogits {
  requirePositions(logprobs, tokens, limits);
  const { vocabularySize } = limits;
  const logits = new Float32Array((tokens.length - from) * vocabularySize);
  for (let t = 0; t < tokens.length - from; t++) {
    const row = full?.[from + t];
    if (row?.length !== vocabularySize) {
      throw unusable(
        limits,
        `expected ${vocabularySize} logprobs of a position, got ${row?.length ?? 0}`,
        remedies.tokenizer,
      );
    }
    logits.set(row, t * vocabularySize);
  }
  return { logits, vocabularySize };
}

function requirePositions(
  logprobs: RemoteScores['logprobs'],
  tokens: readonly TokenId[],
  limits: AnswerLimits,
): void {
  if (logprobs.length === tokens.length) return;
  throw unusable(
    limits,
    `expected logprobs of ${tokens.length} prompt tokens, got ${logprobs.length}`,
    remedies.logprobs,
  );
}

/** Logprob of a token and entropy of its distribution, at a temperature. */
function atTemperature(distribution: readonly number[], token: TokenId, temperature: number) {
  const scaled = distribution.map((logprob) => logprob / temperature);
  const largest = scaled.reduce((most, x) => Math.max(most, x), Number.NEGATIVE_INFINITY);
  const total = scaled.reduce((sum, x) => sum + Math.exp(x - largest), 0);
  const normalizer = largest + Math.log(total);
  let entropy = 0;
  for (const x of scaled) {
    const logprob = x - normalizer;
    if (logprob > -700) entropy -= Math.exp(logprob) * logprob;
  }
  return { logprob: Math.min(0, scaled[token]! - normalizer), entropy: Math.max(0, entropy) };
}
