import type { Message, State, Step, Trajectory } from '@rlp/core';

/** Progress of an episode so far. */
export interface Progress<S extends State> {
  readonly steps: Step[];
  /** The state that the next turn is sampled in. Absent before the environment was reset. */
  state: S | undefined;
  messages: readonly Message[];
  splits: number;
  splitReason?: string | undefined;
  policyVersion: number;
  /** Steps and messages at the environment's last answer. An unfinished episode continues from there. */
  answered: { readonly steps: number; readonly messages: readonly Message[] };
}

/** What an episode waits for. */
export type WaitsFor = 'start' | 'sampler' | 'environment' | 'nothing';

/** One episode of a group. Its progress can be read while it runs. */
export interface Member<S extends State, Metadata = unknown, Outcome = unknown> {
  progress: Progress<S>;
  /** Present once it ended. */
  trajectory?: Trajectory<Metadata, Outcome> | undefined;
  waitsFor: WaitsFor;
  /** Steps that another collection made. Default none. */
  carriedSteps?: number;
  /** Start of the episode, in milliseconds of the rollout's clock. */
  readonly sinceMs: number | undefined;
}

/** An episode that has not begun. */
export function emptyProgress<S extends State>(policyVersion: number, state?: S): Progress<S> {
  return {
    steps: [],
    state,
    messages: [],
    splits: 0,
    policyVersion,
    answered: { steps: 0, messages: [] },
  };
}

/** Whether an episode ended for good, so that it cannot be continued. */
export function isOver({ status }: Pick<Trajectory, 'status'>): boolean {
  return status !== 'aborted' && status !== 'pending';
}

/** A group that is about to run. */
export function newMembers<S extends State>(
  count: number,
  policyVersion: number,
  sinceMs: number | undefined,
): Member<S, never, never>[] {
  const fresh = () => emptyProgress<S>(policyVersion);
  return Array.from({ length: count }, () => ({ progress: fresh(), waitsFor: 'start', sinceMs }));
}
