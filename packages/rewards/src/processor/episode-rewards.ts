import { ArgumentError, described, type RewardFailure, type ScoredTrajectory } from '@rlp/core';
import { type RewardEpisode, trajectoryFromEpisode } from '../shared/episode.ts';

/** A failure of a batch, with the episode it concerns. */
export interface EpisodeFailure extends RewardFailure {
  /** Place of the episode in the batch. */
  readonly index: number;
}

/** Score of an episode without the trajectory it was read into. */
export type EpisodeScore = Pick<ScoredTrajectory, 'reward' | 'components' | 'failures'>;

/** Score of an episode that is not judged, or cannot be read for the reason given. */
function unreadScore(problem: string | null): EpisodeScore {
  if (problem === null) return { reward: null, components: {} };
  const failure = { source: 'episode', cause: 'unreadable', message: problem } as const;
  return { reward: null, components: {}, failures: [failure] };
}

/** Episodes as trajectories, and a function that adds to their scores those of the episodes that cannot be read. */
export function readEpisodes(episodes: readonly RewardEpisode[]) {
  if (!Array.isArray(episodes)) {
    throw new ArgumentError(
      `processEpisodeRewards: expected an array of episodes, got ${described(episodes)}`,
    );
  }
  const read = episodes.map((one, row) => trajectoryFromEpisode(one, String(row)));
  const scoresOf = (scored: readonly EpisodeScore[]): readonly EpisodeScore[] => {
    let next = 0;
    return read.map((one) => (one === null || typeof one === 'string' ? unreadScore(one) : scored[next++]!));
  };
  return { trajectories: read.filter((one) => one !== null && typeof one !== 'string'), scoresOf };
}

/**
 * Rewards of a batch of episodes, with their parts, as columns.
 *
 * NaN in an array stands for an unscorable episode. Everything else here says `null`.
 */
export class EpisodeRewards implements Iterable<number | null> {
  /** NaN if unscorable. Shape: `[B]`. */
  readonly data: Float64Array;
  readonly device = 'cpu';
  readonly dtype = 'float64';
  /** The parts before weighting, by name; NaN where a part failed. Shape of each: `[B]`. */
  readonly components: Readonly<Record<string, Float64Array>>;
  readonly failures: readonly EpisodeFailure[];

  constructor(
    data: Float64Array,
    components: Readonly<Record<string, Float64Array>>,
    failures: readonly EpisodeFailure[],
  ) {
    this.data = data;
    this.components = components;
    this.failures = failures;
  }

  /** Scores in rows as columns. @param names - Components, also those of no row. */
  static of(scores: readonly EpisodeScore[], names: readonly string[]): EpisodeRewards {
    const column = (value: (score: EpisodeScore) => number | null | undefined) => {
      const data = new Float64Array(scores.length);
      for (let row = 0; row < data.length; row++) data[row] = value(scores[row]!) ?? Number.NaN;
      return data;
    };
    return new EpisodeRewards(
      column(({ reward }) => reward),
      Object.fromEntries(names.map((name) => [name, column(({ components }) => components[name])])),
      scores.flatMap(({ failures = [] }, index) => failures.map((failure) => ({ index, ...failure }))),
    );
  }

  /** `[B]`. */
  get shape(): readonly [number] {
    return [this.data.length];
  }

  /** Episodes. */
  get length(): number {
    return this.data.length;
  }

  /** Reward of an episode. `null` if it is unscorable or absent. Negative places count from the end. */
  at(index: number): number | null {
    const value = this.data.at(index);
    return value === undefined || Number.isNaN(value) ? null : value;
  }

  /** All rewards, `null` if unscorable. Shape: `[B]`. */
  toArray(): (number | null)[] {
    return [...this];
  }

  /** Plain arrays with `null` for NaN. */
  toJSON() {
    const plain = (column: Float64Array) =>
      Array.from(column, (value) => (Number.isNaN(value) ? null : value));
    const components = Object.entries(this.components).map(
      ([name, column]) => [name, plain(column)] as const,
    );
    const { dtype, shape, failures } = this;
    return { rewards: plain(this.data), components: Object.fromEntries(components), failures, dtype, shape };
  }

  *[Symbol.iterator](): Iterator<number | null> {
    for (const value of this.data) yield Number.isNaN(value) ? null : value;
  }
}
