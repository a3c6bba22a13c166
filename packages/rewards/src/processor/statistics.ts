import type { RewardFunctionStatistics } from '../tally.ts';
import type { CalledReward } from './calls.ts';
import type { EpisodeFailure, EpisodeRewards } from './episode-rewards.ts';

/** What a processor has done since it was made. */
export interface ProcessorStatistics {
  readonly episodes: number;
  /** Episodes whose reward is `null`. */
  readonly unscorable: number;
  /** Failures by cause; an episode may have several. */
  readonly failures: Readonly<Record<EpisodeFailure['cause'], number>>;
  /** Calls of added rewards and of the external one, by name. */
  readonly rewards: Readonly<Record<string, RewardFunctionStatistics>>;
  /** Milliseconds from call to result, summed over batches. */
  readonly milliseconds: number;
}

/** Counts what a processor does. */
export class ProcessorTally {
  #episodes = 0;
  #unscorable = 0;
  #milliseconds = 0;
  readonly #failures = { unreadable: 0, threw: 0, 'timed-out': 0, 'not-finite': 0 };

  /** Counts one batch. */
  add({ data, failures }: EpisodeRewards, milliseconds: number): void {
    this.#episodes += data.length;
    this.#milliseconds += milliseconds;
    for (const value of data) if (Number.isNaN(value)) this.#unscorable += 1;
    for (const { cause } of failures) this.#failures[cause] += 1;
  }

  /** The counts so far, as a value. */
  snapshot(called: readonly CalledReward[]): ProcessorStatistics {
    return {
      episodes: this.#episodes,
      unscorable: this.#unscorable,
      failures: { ...this.#failures },
      rewards: Object.fromEntries(called.map(({ name, tally }) => [name, tally.snapshot()])),
      milliseconds: this.#milliseconds,
    };
  }
}
