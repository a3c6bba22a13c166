import { ArgumentError, longestTimerMs, type RewardFunction } from '@rlp/core';
import type { Fetch } from '@rlp/http/client';
import type { ExternalReward } from '../external/external-reward.ts';
import { type ScoredPart, scoredPart } from '../functions/score-trajectories.ts';
import { episodeOf, type ReadEpisode } from '../shared/episode.ts';
import type { ResolvedRewardConfig } from './config.ts';

/** Judges an episode elsewhere. `null` or throwing makes the episode unscorable. */
export type EpisodeScorer = (
  episode: ReadEpisode,
  context: { readonly signal: AbortSignal },
) => number | null | Promise<number | null>;

/** Where the external reward comes from. */
export interface ExternalSource {
  /**
   * The external reward, blended in. It replaces `externalRmUrl`. A function keeps to `maxWorkers` and `externalRmTimeout`. An
   * `externalReward({ … })` of `@rlp/rewards/external` has its own limits.
   */
  readonly external?: EpisodeScorer | ExternalReward | undefined;
  /** Share of the external reward in the blend, from 0 to 1. Default 0.7. */
  readonly externalShare?: number | undefined;
  /** Requests `externalRmUrl`. Default: the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
}

/** The external reward as a part of the reward, if there is one. */
export function externalPart(
  { externalRmUrl: url, externalRmTimeout, maxWorkers }: ResolvedRewardConfig,
  { external, fetch }: Omit<ExternalSource, 'externalShare'>,
): ScoredPart<unknown, unknown> | undefined {
  const timeoutMs = externalRmTimeout * 1000;
  const part = (score: EpisodeScorer, limits: { timeoutMs: number; concurrency: number }) => {
    const reward: RewardFunction = (trajectory, context) => score(episodeOf(trajectory), context);
    return scoredPart<unknown, unknown>({ name: 'external', reward, ...limits });
  };
  if (typeof external === 'function') return part(external, { timeoutMs, concurrency: maxWorkers });
  if (external !== undefined) {
    // It limits the requests in progress and the time of each itself.
    const limits = { timeoutMs: longestTimerMs, concurrency: external.capacity };
    return part(async (episode, context) => external.score(episode, context), limits);
  }
  if (url === null) return undefined;
  if (fetch === undefined && !('fetch' in globalThis)) {
    throw new ArgumentError(
      'RolloutRewardProcessor: externalRmUrl needs fetch, which this platform lacks; pass one',
    );
  }
  // Loaded when it is needed, since most processors ask no server.
  let client: Promise<ExternalReward> | undefined;
  const connect = async () => {
    const { externalReward } = await import('../external/external-reward.ts');
    return externalReward({ url, fetch, timeoutMs, concurrency: maxWorkers });
  };
  const ask: EpisodeScorer = async (episode, context) => {
    client ??= connect();
    return (await client).score(episode, context);
  };
  return part(ask, { timeoutMs, concurrency: maxWorkers });
}
