import { type EpisodeFailure, EpisodeRewards } from '../processor/episode-rewards.ts';
import type { RewardEpisode } from '../shared/episode.ts';
import type { ScoredPart } from './parts.ts';
import type { EpisodeScores } from './protocol.ts';

/** Rewards of parts as the rewards of all `count` episodes. What a part has no scores for is NaN, and a failure. */
export function joinedRewards(
  parts: readonly ScoredPart<RewardEpisode, EpisodeScores>[],
  count: number,
): EpisodeRewards {
  const data = new Float64Array(count).fill(Number.NaN);
  const components: Record<string, Float64Array> = {};
  const failures: EpisodeFailure[] = [];
  for (const { start, rows, answer, failure } of parts) {
    if (failure !== undefined) {
      const cause = failure.failure === 'timed-out' ? 'timed-out' : 'threw';
      const { message } = failure;
      rows.forEach((_, row) => {
        failures.push({ index: start + row, source: 'episode', cause, message });
      });
    }
    if (answer === undefined) continue;
    data.set(answer.data, start);
    for (const [name, column] of Object.entries(answer.components)) {
      components[name] ??= new Float64Array(count).fill(Number.NaN);
      components[name].set(column, start);
    }
    for (const one of answer.failures) failures.push({ ...one, index: one.index + start });
  }
  return new EpisodeRewards(data, components, failures);
}
