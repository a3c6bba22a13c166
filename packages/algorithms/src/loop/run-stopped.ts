import { RlpError } from '@rlp/core';
import type { RlState } from './protocol.ts';

/** Why a run stopped by itself, as docs/guides/when-a-run-stops.md describes. */
export type StopReason =
  | 'nothing-collected'
  | 'episodes-failed'
  | 'rewards-rejected'
  | 'rewards-failed'
  | 'rewards-null'
  | 'rewards-missing'
  | 'rewards-equal'
  | 'sampler-gap'
  | 'memory';

/**
 * A run in which nothing can be learned stopped by itself. The message has the remedy.
 *
 * `cause` is the first error behind it, with its own stack, if there was one.
 */
export class RunStoppedError extends RlpError {
  override readonly name = 'RunStoppedError';
  readonly reason: StopReason;
  /** What to do. */
  readonly remedy: string;
  /** Continue with it, and with the backend's checkpoint of that moment. Tasks that taught nothing are not counted in it. */
  readonly state: RlState;
  readonly #why: readonly [Stop, number];

  constructor(stop: Stop, { iteration, state }: { readonly iteration: number; readonly state: RlState }) {
    const { reason, sentence, remedy, cause } = stop;
    super(`runRlTraining: iteration ${iteration + 1}: ${sentence}; ${remedy}`, { cause });
    this.#why = [stop, iteration];
    this.reason = reason;
    this.remedy = remedy;
    this.state = state;
  }

  /** The same, for a run that went on until it needed what failed. */
  at(state: RlState): RunStoppedError {
    const [stop, iteration] = this.#why;
    return runStopped(stop, { iteration, state });
  }
}

/** Outside of the class: a bundler renames a class that names itself, and stacks would show that name. */
function runStopped(...given: ConstructorParameters<typeof RunStoppedError>): RunStoppedError {
  return new RunStoppedError(...given);
}

/** What is wrong, what to do, and the first error behind it. */
export interface Stop {
  readonly reason: StopReason;
  readonly sentence: string;
  readonly remedy: string;
  readonly cause?: unknown;
}
