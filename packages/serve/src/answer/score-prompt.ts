import type { TokenId } from '@rlp/core';
import { ApiError } from '../api-error.ts';
import type { ServedPolicy } from '../served-policy.ts';
import { logprobsOf, type TokenLogprob } from './top-logprobs.ts';

/** Logprobs at one place of a prompt: of the token that stands there first, then the likeliest ones. */
export interface ScoredPlace extends TokenLogprob {
  /** 1 for the likeliest token. Unknown unless likely tokens were asked for. */
  readonly rank?: number | undefined;
  readonly top: readonly TokenLogprob[];
}

/** How a prompt is scored. */
export interface PromptScoring {
  /** How many likely tokens are listed at each place. `'all'` lists the vocabulary. */
  readonly likely: number | 'all';
  readonly signal: AbortSignal;
}

/** Logprobs of a prompt's tokens at temperature 1. The first one has none. */
export async function scorePrompt(
  policy: ServedPolicy,
  tokens: readonly TokenId[],
  { likely, signal }: PromptScoring,
): Promise<readonly (ScoredPlace | null)[]> {
  if (tokens.length < 2) return tokens.map(() => null);
  const requests = [{ prompt: tokens.slice(0, 1), completion: tokens.slice(1) }];
  if (likely === 0) {
    if (policy.scoreTokens === undefined) throw new ApiError(400, 'this server cannot score prompts');
    const [scores] = await policy.scoreTokens(requests, { signal });
    const places = Array.from(scores!.logprobs, (logprob, t) => ({
      token: tokens[t + 1]!,
      logprob,
      top: [],
    }));
    return [null, ...places];
  }
  if (policy.scoreLogits === undefined) {
    throw new ApiError(
      400,
      'this server cannot list the likeliest tokens; ask for the logprobs of the prompt only',
    );
  }
  const [scored] = await policy.scoreLogits(requests, { signal });
  const { logits, vocabularySize } = scored!;
  const places = tokens.slice(1).map((token, t): ScoredPlace => {
    const row = logprobsOf(logits.subarray(t * vocabularySize, (t + 1) * vocabularySize), 1);
    const order = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]! || a - b);
    const listed = likely === 'all' ? order : order.slice(0, likely);
    const top = listed.map((other) => ({ token: other, logprob: row[other]! }));
    return { token, logprob: row[token]!, rank: order.indexOf(token) + 1, top };
  });
  return [null, ...places];
}
