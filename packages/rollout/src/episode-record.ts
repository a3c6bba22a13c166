import {
  type Message,
  type RlpError,
  type State,
  type Step,
  type Termination,
  type Trajectory,
  type TrajectoryStatus,
  withCause,
} from '@rlp/core';
import { boundaryOf } from './boundary.ts';
import { withLastView, withToolCalls } from './conversation.ts';
import type { GroupContext } from './group-context.ts';
import type { Ending } from './guarded.ts';

/** An episode's record, and what only the manager needs to know of it. */
export interface EpisodeOutcome<Metadata = unknown, Outcome = unknown> {
  readonly trajectory: Trajectory<Metadata, Outcome>;
  /** Turns whose prompt did not continue the tokens before it. */
  readonly splits: number;
  /** Why the last of them did not. */
  readonly splitReason?: string | undefined;
  readonly error?: RlpError | undefined;
}

/** How an episode ended. */
export interface End {
  readonly status: Exclude<TrajectoryStatus, 'pending'>;
  readonly termination: Termination;
}

/** What an episode has gathered so far. */
export interface Progress<S extends State> {
  readonly steps: Step[];
  /** The state that the next turn is sampled in. */
  state: S | undefined;
  messages: readonly Message[];
  splits: number;
  splitReason?: string | undefined;
  policyVersion: number;
}

/** Asks the environment what it has to say about an episode that came to its end. */
export async function finish<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
  member: number,
  progress: Progress<S>,
  { status, termination }: End,
): Promise<EpisodeOutcome<Metadata, Outcome>> {
  const state = progress.state!;
  const { transcript, ...said } = await context.environment.ending(state);
  const messages = transcript ?? withLastView(progress.messages, context.environment.lastView(state));
  return record(context, member, { ...progress, messages }, { status, termination, ...said });
}

/** The record of an episode that an error ended. Throws errors that are neither the environment's nor the sampler's. */
export function brokenOutcome<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
  member: number,
  progress: Progress<S>,
  error: unknown,
): EpisodeOutcome<Metadata, Outcome> {
  if (context.signal.aborted) return abortedOutcome(context, member, progress);
  const boundary = boundaryOf(error);
  if (boundary === undefined) throw error;
  const { message } = error as RlpError;
  const termination: Termination = { reason: 'error', detail: message };
  const { trajectory, ...rest } = record(context, member, progress, { status: 'failed', termination });
  return {
    trajectory: { ...trajectory, failure: withCause({ boundary, message }, error) },
    ...rest,
    error: error as RlpError,
  };
}

/** The record of an episode that a signal stopped, with the state that it can go on from. */
export function abortedOutcome<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
  member: number,
  progress: Progress<S>,
): EpisodeOutcome<Metadata, Outcome> {
  const end: End = { status: 'aborted', termination: { reason: 'aborted' } };
  const { trajectory, ...rest } = record(context, member, progress, end);
  const { state } = progress;
  return { trajectory: { ...trajectory, ...(state !== undefined && { state }) }, ...rest };
}

function record<S extends State, Metadata, Outcome>(
  { task, groupId, dependencies: { chat } }: GroupContext<S, Metadata, Outcome>,
  member: number,
  progress: Progress<S>,
  { status, termination, outcome, metrics }: End & Omit<Ending<Outcome>, 'transcript'>,
): EpisodeOutcome<Metadata, Outcome> {
  const { splits, splitReason, policyVersion } = progress;
  const { messages, steps } = withToolCalls(progress.messages, progress.steps, chat);
  const trajectory: Trajectory<Metadata, Outcome> = {
    id: `${groupId}/${member}`,
    task,
    steps,
    messages,
    response: steps.at(-1)?.text ?? '',
    status,
    termination,
    ...(outcome !== undefined && { outcome }),
    ...(metrics !== undefined && { metrics }),
    policyVersion,
    group: { id: groupId, member },
  };
  return { trajectory, splits, splitReason };
}
