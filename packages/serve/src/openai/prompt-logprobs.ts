import type { Tokenizer } from '@rlp/core';
import type { ScoredPlace } from '../answer/score-prompt.ts';
import { tokenText } from './token-text.ts';

/** Logprobs of a prompt as vLLM words them: by token at each place, `null` at the first. */
export function promptLogprobsOf(places: readonly (ScoredPlace | null)[], tokenizer: Tokenizer): object {
  return places.map((place) => {
    if (place === null) return null;
    const ranked = place.top.map((likely, index) => ({ ...likely, rank: index + 1 }));
    const own = { token: place.token, logprob: place.logprob, rank: place.rank ?? null };
    return Object.fromEntries(
      [...ranked, own].map(({ token, logprob, rank }) => [
        token,
        { logprob, rank, decoded_token: tokenText(tokenizer, token) },
      ]),
    );
  });
}
