import type { RewardFailureCause } from '@rlp/core';
import type { Verdict } from './call-reward.ts';

/** What became of the calls of one reward function. */
export interface RewardFunctionStatistics {
  readonly calls: number;
  /** Verdicts that are `null` because the function broke, by cause; a call may give several. */
  readonly failures: Readonly<Record<Exclude<RewardFailureCause, 'unreadable'>, number>>;
  /** The message of the last failure. */
  readonly lastFailure: string | undefined;
  /** Milliseconds in which at least one call was under way. */
  readonly milliseconds: number;
}

/** Counts the calls of one reward function. */
export class Tally {
  #calls = 0;
  readonly #failures = { threw: 0, 'timed-out': 0, 'not-finite': 0 };
  #lastFailure: string | undefined;
  #milliseconds = 0;
  #since = 0;
  /** Calls that have not been answered yet. */
  waiting = 0;

  /** Makes a call and counts it with its verdict. One that throws or rejects is not counted. */
  count(clock: () => number, call: () => Verdict | Promise<Verdict>): Verdict | Promise<Verdict> {
    const begun = clock();
    const verdict = call();
    if (this.waiting++ === 0) this.#since = begun;
    const end = () => {
      const now = clock();
      this.#milliseconds += now - this.#since;
      [this.#since, this.waiting] = [now, this.waiting - 1];
    };
    if (verdict instanceof Promise) return verdict.then((given) => this.#add(given)).finally(end);
    end();
    return this.#add(verdict);
  }

  #add(verdict: Verdict): Verdict {
    this.#calls += 1;
    if (verdict.failure !== undefined) this.fail(verdict.failure);
    return verdict;
  }

  /** Counts a failure that is not a whole call: one verdict of several that a call gave. */
  fail({ cause, error }: NonNullable<Verdict['failure']>): void {
    this.#failures[cause] += 1;
    this.#lastFailure = error.message;
  }

  /** The counts so far, as a value. */
  snapshot(): RewardFunctionStatistics {
    return {
      calls: this.#calls,
      failures: { ...this.#failures },
      lastFailure: this.#lastFailure,
      milliseconds: this.#milliseconds,
    };
  }
}
