import {
  type Message,
  type RlpError,
  type State,
  type Termination,
  type Trajectory,
  type TrajectoryStatus,
  withCause,
} from '@rlp/core';
import { boundaryOf } from './boundary.ts';
import { withLastView, withToolCalls } from './conversation.ts';
import type { Episode } from './group-context.ts';
import type { Ending } from './guarded.ts';

/** Record of an episode, with counts that only the manager needs. */
export interface EpisodeOutcome<Metadata = unknown, Outcome = unknown> {
  readonly trajectory: Trajectory<Metadata, Outcome>;
  /** Turns whose prompt did not continue the tokens before it. */
  readonly splits: number;
  /** Why the last of them did not. */
  readonly splitReason?: string | undefined;
  readonly error?: RlpError | undefined;
  /** Steps that another collection made and counted. Default none. */
  readonly carriedSteps?: number | undefined;
  /** Whether the episode ended before this collection. */
  readonly isCarried?: boolean | undefined;
}

/** How an episode ended. */
export interface End {
  readonly status: Exclude<TrajectoryStatus, 'pending'>;
  readonly termination: Termination;
}

/** Record of an episode that reached its end, with transcript, outcome and metrics of the environment. */
export async function finish<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
  { status, termination }: End,
): Promise<EpisodeOutcome<Metadata, Outcome>> {
  const { context, member } = episode;
  const { progress } = member;
  const state = progress.state!;
  const { transcript, ...said } = await context.environment.ending(state);
  const view = context.environment.lastView(state);
  if (view !== undefined && progress.steps.length > 0) context.events.answered(episode, view);
  const messages = transcript ?? withLastView(progress.messages, view);
  return ended(episode, record(episode, { messages }, { status, termination, ...said }));
}

/** Record of an episode that an error ended. Rethrows errors that come from neither environment nor sampler. */
export function brokenOutcome<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
  error: unknown,
): EpisodeOutcome<Metadata, Outcome> {
  const { context, member } = episode;
  if (context.signal.aborted) return abortedOutcome(episode);
  const boundary = boundaryOf(error);
  if (boundary === undefined) throw error;
  const { message } = error as RlpError;
  const { messages } = member.progress;
  const end = { status: 'failed', termination: { reason: 'error', detail: message } } as const;
  const trajectory = record(episode, { messages }, end);
  const failure = withCause({ boundary, message }, error);
  return { ...ended(episode, { ...trajectory, failure }), error: error as RlpError };
}

/** Record of an episode that a signal stopped. */
export function abortedOutcome<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
): EpisodeOutcome<Metadata, Outcome> {
  return ended(episode, { ...unfinished(episode, 'aborted'), termination: { reason: 'aborted' } });
}

/**
 * An episode as it stood after the environment's last answer, with the state to continue from. Its messages are as the environment showed
 * them, because the next prompt continues them.
 */
export function unfinished<S extends State, Metadata, Outcome>(
  { context, index, member }: Episode<S, Metadata, Outcome>,
  status: 'pending' | 'aborted',
): Trajectory<Metadata, Outcome> {
  const { state, answered, policyVersion } = member.progress;
  const steps = member.progress.steps.slice(0, answered.steps);
  const { version } = context.dependencies.environment;
  return {
    id: `${context.groupId}/${index}`,
    task: context.task,
    steps,
    messages: answered.messages,
    response: steps.at(-1)?.text ?? '',
    status,
    ...(state !== undefined && { state, ...(version !== undefined && { environmentVersion: version }) }),
    policyVersion,
    group: { id: context.groupId, member: index },
  };
}

/** Outcome of an ended episode. Sinks and `onEnded` get it first. */
function ended<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
  trajectory: Trajectory<Metadata, Outcome>,
): EpisodeOutcome<Metadata, Outcome> {
  const { context, member } = episode;
  const { splits, splitReason } = member.progress;
  member.trajectory = trajectory;
  member.waitsFor = 'nothing';
  context.events.ended(episode, trajectory);
  if (trajectory.status !== 'aborted') context.onEnded?.(trajectory);
  return { trajectory, splits, splitReason, carriedSteps: member.carriedSteps };
}

function record<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
  said: { readonly messages: readonly Message[] },
  { status, termination, outcome, metrics }: End & Omit<Ending<Outcome>, 'transcript'>,
): Trajectory<Metadata, Outcome> {
  const { context, index, member } = episode;
  const { progress } = member;
  const { messages, steps } = withToolCalls(said.messages, progress.steps, context.dependencies.chat);
  return {
    id: `${context.groupId}/${index}`,
    task: context.task,
    steps,
    messages,
    response: steps.at(-1)?.text ?? '',
    status,
    termination,
    ...(outcome !== undefined && { outcome }),
    ...(metrics !== undefined && { metrics }),
    policyVersion: progress.policyVersion,
    group: { id: context.groupId, member: index },
  };
}
