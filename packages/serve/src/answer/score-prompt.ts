import type { TokenId } from '@rlp/core';
import { ApiError } from '../api-error.ts';
import type { ServedPolicy } from '../served-policy.ts';
import { distributions, likeliest, type TokenLogprob } from './top-logprobs.ts';

/** Logprobs at one place of a prompt: of the token that stands there, and of likely ones. */
export interface ScoredPlace extends TokenLogprob {
  /** 1 for the likeliest token. Unknown unless likely tokens were asked for. */
  readonly rank?: number | undefined;
  /** Best first. */
  readonly top: readonly TokenLogprob[];
}

/** How a prompt is scored. */
export interface PromptScoring {
  /** How many likely tokens are listed at each place. `'all'` lists the vocabulary. */
  readonly likely: number | 'all';
  readonly signal: AbortSignal;
}

/** Logprobs that one answer lists. */
const mostListed = 2 ** 22;

/** Logprobs of a prompt's tokens at temperature 1. The first one has none. */
export async function scorePrompt(
  policy: ServedPolicy,
  tokens: readonly TokenId[],
  { likely, signal }: PromptScoring,
): Promise<readonly (ScoredPlace | null)[]> {
  if (tokens.length < 2) return tokens.map(() => null);
  const [prompt, completion] = [tokens.slice(0, 1), tokens.slice(1)];
  if (likely === 0) {
    if (policy.scoreTokens === undefined) throw new ApiError(400, 'this server cannot score prompts');
    const [scores] = await policy.scoreTokens([{ prompt, completion }], { signal });
    const places = Array.from(scores!.logprobs, (logprob, t) => ({
      token: completion[t]!,
      logprob,
      top: [],
    }));
    return [null, ...places];
  }
  const listed = completion.length * (likely === 'all' ? policy.vocabularySize : likely);
  if (listed > mostListed) {
    throw new ApiError(
      400,
      `expected at most ${mostListed} logprobs in an answer, got ${listed}; ask for fewer`,
    );
  }
  const places: (ScoredPlace | null)[] = [null];
  for await (const row of distributions(policy, { prompt, completion, temperature: 1, signal })) {
    const token = completion[places.length - 1]!;
    const logprob = row[token]!;
    const rank = 1 + row.reduce((sum, other) => sum + (other > logprob ? 1 : 0), 0);
    places.push({ token, logprob, rank, top: likely === 'all' ? ranked(row) : likeliest(row, likely) });
  }
  return places;
}

/** All tokens, best first. */
function ranked(row: Float64Array): TokenLogprob[] {
  const all = Array.from(row, (logprob, token) => ({ token, logprob }));
  return all.sort((a, b) => b.logprob - a.logprob || a.token - b.token);
}
