import { callWithin } from '../call-reward.ts';
import type { Tally } from '../tally.ts';
import type { ReadEpisode } from './episode.ts';
import type { EpisodeFailure } from './episode-rewards.ts';

/** A part of the reward that is a function of one's own. */
export interface CalledReward {
  readonly name: string;
  readonly weight: number;
  readonly timeoutMs: number;
  /** Calls under way at once; instead of the processor's. */
  readonly concurrency?: number | undefined;
  readonly tally: Tally;
  readonly call: (episode: ReadEpisode, signal: AbortSignal) => number | null | PromiseLike<number | null>;
}

interface CallOptions {
  readonly concurrency: number;
  readonly clock: () => number;
  readonly signal: AbortSignal;
}

/** Calls a reward for every episode, `concurrency` at a time. NaN where it gave no verdict. Rejects only once aborted. */
export async function callForEach(
  { name, timeoutMs, concurrency: own, tally, call }: CalledReward,
  episodes: readonly (ReadEpisode | null)[],
  { concurrency, clock, signal }: CallOptions,
): Promise<{ readonly column: Float64Array; readonly failures: readonly EpisodeFailure[] }> {
  const column = new Float64Array(episodes.length).fill(Number.NaN);
  const failures: EpisodeFailure[] = [];
  let next = 0;
  const lane = async () => {
    for (let row = next++; row < episodes.length; row = next++) {
      signal.throwIfAborted();
      const episode = episodes[row]!;
      if (episode === null) continue;
      const begun = clock();
      const verdict = await callWithin(name, (limit) => call(episode, limit), { timeoutMs, signal });
      tally.add(verdict, clock() - begun);
      column[row] = verdict.value ?? Number.NaN;
      if (verdict.failure === undefined) continue;
      const { cause, error } = verdict.failure;
      failures.push({ index: row, source: name, cause, message: error.message });
    }
  };
  await Promise.all(Array.from({ length: Math.min(own ?? concurrency, episodes.length) }, lane));
  return { column, failures: failures.sort((a, b) => a.index - b.index) };
}
