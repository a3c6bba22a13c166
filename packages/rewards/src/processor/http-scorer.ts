import { RewardError } from '@rlp/core';
import type { ReadEpisode } from './episode.ts';

/** Judges an episode elsewhere. `null`: it cannot tell. Throwing makes the episode unscorable. */
export type EpisodeScorer = (
  episode: ReadEpisode,
  context: { readonly signal: AbortSignal },
) => number | null | PromiseLike<number | null>;

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: {
    readonly method: 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly signal: AbortSignal;
  },
) => Promise<{ readonly status: number; json(): Promise<unknown> }>;

/**
 * A reward model behind HTTP: POST `{"prompt", "response", "metadata"}`, answered by `{"reward": number}`.
 *
 * Any status but 200 and any other answer throws a `RewardError`, so that the episode is unscorable instead of worth a
 * made-up number.
 */
export function httpScorer({ url, fetch }: { readonly url: string; readonly fetch: Fetch }): EpisodeScorer {
  return async ({ prompt, response, metadata }, { signal }) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt, response, metadata }),
      signal,
    });
    if (answer.status !== 200) throw new RewardError(`${url}: expected status 200, got ${answer.status}`);
    const body = (await answer.json()) as { readonly reward?: unknown } | null;
    const reward = body?.reward;
    if (reward === null || typeof reward === 'number') return reward;
    throw new RewardError(`${url}: expected {"reward": number}, got a reward that is ${typeof reward}`);
  };
}
