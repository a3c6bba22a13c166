import type { RewardFailureCause } from '../call-reward.ts';

/** Why an episode, or one part of its reward, could not be scored. */
export interface EpisodeFailure {
  /** Place of the episode in what was given. */
  readonly index: number;
  /** `'episode'` where it could not be read, else the name of the part that gave no verdict. */
  readonly source: string;
  readonly cause: RewardFailureCause | 'unreadable';
  /** What was expected and what came. */
  readonly message: string;
}

/**
 * Rewards of a batch of episodes, with their parts.
 *
 * The numbers are float64 because JavaScript's are: nothing is rounded on the way, and eight bytes per episode are little
 * beside its text. NaN in an array stands for an unscorable episode; everything else here says `null`.
 */
export class EpisodeRewards implements Iterable<number | null> {
  /** NaN where unscorable. Shape: `[B]`. */
  readonly data: Float64Array;
  readonly device = 'cpu';
  readonly dtype = 'float64';
  /** The parts before weighting, by name; NaN where a part gave no verdict. Shape of each: `[B]`. */
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

  /** `[B]`. */
  get shape(): readonly [number] {
    return [this.data.length];
  }

  /** Episodes. */
  get length(): number {
    return this.data.length;
  }

  /** Reward of an episode; `null` if it is unscorable or not there. Negative places count from the end. */
  at(index: number): number | null {
    const value = this.data.at(index);
    return value === undefined || Number.isNaN(value) ? null : value;
  }

  /** All rewards, `null` where unscorable. Shape: `[B]`. */
  toArray(): (number | null)[] {
    return [...this];
  }

  *[Symbol.iterator](): Iterator<number | null> {
    for (const value of this.data) yield Number.isNaN(value) ? null : value;
  }
}
