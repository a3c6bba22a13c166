import { ArgumentError } from '@rlp/core';
import { callWithin, type Verdict } from '../functions/call-reward.ts';
import { weighed } from '../functions/score-trajectories.ts';
import { type RewardEpisode, referenceOf } from '../shared/episode.ts';
import { textComponents } from './components.ts';
import { type RewardConfig, resolveRewardConfig } from './config.ts';
import { EpisodeRewards, readEpisodes } from './episode-rewards.ts';

/**
 * Rewards of a batch by the text components alone:
 *
 *     reward = Σ_k weight_k · component_k,   k = length, keyword, fluency, accuracy
 *
 * Pure and synchronous. Scorers, servers and your own functions need a {@link RolloutRewardProcessor}. An episode that cannot be read
 * is unscorable and named in the result's failures. Time is linear in the length of the texts.
 *
 * @param episodes - Shape: `[B]`.
 * @throws OptionsError for a bad config. ArgumentError for one with an external reward model.
 */
export function processEpisodeBatchRewards(
  episodes: readonly RewardEpisode[],
  config: RewardConfig = {},
): EpisodeRewards {
  const resolved = resolveRewardConfig(config);
  if (resolved.externalRmUrl !== null) {
    throw new ArgumentError(
      'processEpisodeBatchRewards: expected no externalRmUrl, since a pure function asks no server; use createRolloutRewardProcessor',
    );
  }
  const components = textComponents(resolved, referenceOf);
  const { trajectories, scoresOf } = readEpisodes(episodes);
  // The components answer at once.
  const columns = components.map(({ name, reward }) =>
    trajectories.map(
      (one) => callWithin(name, () => reward(one), { timeoutMs: 0, signal: undefined }) as Verdict,
    ),
  );
  const weights = new Map<string, number>(components.map(({ name, weight }) => [name, weight]));
  const table = { parts: components, columns, weightOf: (name: string) => weights.get(name)! };
  return EpisodeRewards.of(
    scoresOf(trajectories.map((trajectory, row) => weighed(trajectory, row, table))),
    components.map(({ name }) => name),
  );
}
