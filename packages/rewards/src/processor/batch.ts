import { ArgumentError, messageOf } from '@rlp/core';
import { type RewardEpisode, readEpisode, referenceOf } from '../shared/episode.ts';
import { EpisodeText, textComponents, type WeightedComponent } from './components.ts';
import { type RewardConfig, resolveRewardConfig } from './config.ts';
import { EpisodeRewards, type EpisodeScore, unreadScore } from './episode-rewards.ts';

/**
 * Rewards of a batch by the text components alone:
 *
 *     reward = Σ_k weight_k · component_k,   k = length, keyword, fluency, accuracy
 *
 * Pure and synchronous. Scorers, servers and your own functions need a {@link RolloutRewardProcessor}. An episode that cannot be read
 * is unscorable and named in the result's failures. Time is linear in the length of the texts.
 *
 * @param episodes - Shape: `[B]`.
 * @throws `OptionsError` for a bad config. `ArgumentError` for one with an external reward model.
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
  const scores = episodes.map((given) => {
    const episode = readEpisode(given);
    return typeof episode === 'object' && episode
      ? sumOf(components, new EpisodeText(episode))
      : unreadScore(episode);
  });
  return EpisodeRewards.of(
    scores,
    components.map(({ name }) => name),
  );
}

function sumOf(parts: readonly WeightedComponent[], text: EpisodeText): EpisodeScore {
  const components: Record<string, number> = {};
  let reward = 0;
  for (const { name, weight, score } of parts) {
    try {
      components[name] = score(text);
    } catch (error) {
      const failure = { source: name, cause: 'threw', message: messageOf(error) } as const;
      return { reward: null, components: {}, failures: [failure] };
    }
    reward += weight * components[name];
  }
  return { reward, components };
}
