import { ArgumentError, messageOf } from '@rlp/core';
import { computeRewardVector } from '../kernel/reward-vector.ts';
import { type ComponentColumns, ComponentScorer, componentColumns } from './component-scorer.ts';
import { type RewardConfig, resolveRewardConfig } from './config.ts';
import { type ReadEpisode, type RewardEpisode, readEpisode, referenceOf } from './episode.ts';
import { type EpisodeFailure, EpisodeRewards } from './episode-rewards.ts';

/** Episodes of which the components are computed, and what is left to be added. */
export interface ScoredBatch {
  /** `null` where there is nothing to judge. Shape: `[B]`. */
  readonly episodes: readonly (ReadEpisode | null)[];
  readonly columns: ComponentColumns;
  /** Rows of responses that have words. */
  readonly rowsWithWords: readonly number[];
  readonly failures: EpisodeFailure[];
}

/** Reads episodes and computes their components. */
export function scoreBatch(scorer: ComponentScorer, given: readonly RewardEpisode[]): ScoredBatch {
  const columns = componentColumns(given.length);
  const failures: EpisodeFailure[] = [];
  const rowsWithWords: number[] = [];
  const episodes = given.map((value, index) => {
    const episode = readEpisode(value);
    if (episode === null) return null;
    if (typeof episode === 'string') {
      failures.push({
        index,
        source: 'episode',
        cause: 'unreadable',
        message: episode,
      });
      return null;
    }
    try {
      if (scorer.score(episode, index, columns) > 0) rowsWithWords.push(index);
      return episode;
    } catch (error) {
      const message = messageOf(error);
      failures.push({ index, source: 'accuracy', cause: 'threw', message });
      return null;
    }
  });
  return { episodes, columns, rowsWithWords, failures };
}

/** The weighted sum of the components, NaN where nothing could be judged; and the columns of the active ones. */
export function sumOfComponents(
  scorer: ComponentScorer,
  { columns, episodes }: ScoredBatch,
): { readonly data: Float64Array; readonly components: Record<string, Float64Array> } {
  const { length, keyword, fluency, accuracy } = columns;
  const data = computeRewardVector(length, keyword, fluency, accuracy, scorer.weights);
  const components = Object.fromEntries(scorer.active.map((name) => [name, columns[name]]));
  for (const [row, episode] of episodes.entries()) {
    if (episode !== null) continue;
    data[row] = Number.NaN;
    for (const column of Object.values(components)) column[row] = Number.NaN;
  }
  return { data, components };
}

/**
 * Rewards of a batch by the built-in components alone:
 *
 *     reward = Σ_k weight_k · component_k,   k = length, keyword, fluency, accuracy
 *
 * Pure and synchronous: no scorer, no server, no function of one's own (those are {@link RolloutRewardProcessor}'s).
 * An episode that cannot be read is unscorable, and a failure in the result; the others are not touched by it. Time is
 * linear in the length of the texts.
 *
 * @param episodes - Shape: `[B]`.
 * @throws `OptionsError` for a bad config; `ArgumentError` for one with an external reward model.
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
  const scorer = new ComponentScorer(resolved, referenceOf);
  const batch = scoreBatch(scorer, episodes);
  const { data, components } = sumOfComponents(scorer, batch);
  return new EpisodeRewards(data, components, batch.failures);
}
