import { ArgumentError } from '@rlp/core';
import type { ExternalReward } from '../external/external-reward.ts';
import type { Fetch } from '../external/fetch.ts';
import { Tally } from '../tally.ts';
import { longestTimerMs } from '../timer.ts';
import type { CalledReward } from './calls.ts';
import type { ResolvedRewardConfig } from './config.ts';
import type { ReadEpisode } from './episode.ts';

/** Judges an episode elsewhere. `null`: it cannot tell. Throwing makes the episode unscorable. */
export type EpisodeScorer = (
  episode: ReadEpisode,
  context: { readonly signal: AbortSignal },
) => number | null | PromiseLike<number | null>;

/** Where the external reward comes from. */
export interface ExternalSource {
  readonly external?: EpisodeScorer | ExternalReward | undefined;
  readonly externalShare?: number | undefined;
  readonly fetch?: Fetch | undefined;
}

/** The external reward of a processor, if it has one; its weight is its share of the blend. */
export function externalSource(
  { externalRmUrl: url, externalRmTimeout, maxWorkers }: ResolvedRewardConfig,
  { external, externalShare: weight = 0.7, fetch }: ExternalSource,
): CalledReward | undefined {
  if (!(weight >= 0 && weight <= 1)) {
    throw new ArgumentError(`RolloutRewardProcessor: expected an externalShare from 0 to 1, got ${weight}`);
  }
  const timeoutMs = externalRmTimeout * 1000;
  const common = { name: 'external', weight, tally: new Tally() };
  if (typeof external === 'function') {
    return { ...common, timeoutMs, call: (episode, signal) => external(episode, { signal }) };
  }
  if (external !== undefined) {
    // It has limits of its own, on requests at once and on the time of each.
    const { score, capacity: concurrency } = external;
    return {
      ...common,
      timeoutMs: longestTimerMs,
      concurrency,
      call: (episode, signal) => score(episode, { signal }),
    };
  }
  if (url === null) return undefined;
  if (fetch === undefined && !('fetch' in globalThis)) {
    throw new ArgumentError(
      'RolloutRewardProcessor: externalRmUrl needs fetch, which this platform lacks; pass one',
    );
  }
  // Loaded when it is needed: most processors ask nobody.
  let client: Promise<ExternalReward> | undefined;
  const connect = async () => {
    const { externalReward } = await import('../external/external-reward.ts');
    return externalReward({ url, fetch, timeoutMs, concurrency: maxWorkers });
  };
  const call: CalledReward['call'] = async (episode, signal) => {
    client ??= connect();
    return (await client).score(episode, { signal });
  };
  return { ...common, timeoutMs, call };
}
