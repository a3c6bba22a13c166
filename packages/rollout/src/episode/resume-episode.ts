import type { State, Trajectory } from '@rlp/core';
import type { View } from './context.ts';
import { afterAnswer, nextTurn, runEpisode } from './episode.ts';
import { brokenOutcome, type EpisodeOutcome, finish } from './episode-record.ts';
import type { Episode } from './group-context.ts';
import { isOver, type Progress } from './member.ts';

/**
 * Continues an episode that another collection began. Its next turns have the random streams that they would have had there. An episode
 * that is over stays as it is. A state that the environment cannot continue from fails the episode.
 */
export async function resumeEpisode<S extends State, Metadata, Outcome>(
  episode: Episode<S, Metadata, Outcome>,
  trajectory: Trajectory<Metadata, Outcome>,
): Promise<EpisodeOutcome<Metadata, Outcome>> {
  const { context, member } = episode;
  if (isOver(trajectory)) {
    member.trajectory = trajectory;
    context.onEnded?.(trajectory);
    return { trajectory, splits: 0, carriedSteps: trajectory.steps.length, isCarried: true };
  }
  member.progress = progressOf(trajectory);
  member.carriedSteps = trajectory.steps.length;
  context.events.started(episode);
  try {
    member.progress.state = context.environment.given(trajectory.state, trajectory.environmentVersion);
    const next = await afterAnswer(context, member.progress, lastView(trajectory));
    if ('status' in next) return await finish(episode, next);
    return await runEpisode(episode, await nextTurn(episode, next));
  } catch (error) {
    return brokenOutcome(episode, error);
  }
}

function progressOf<S extends State>({ steps, state, messages, policyVersion }: Trajectory): Progress<S> {
  return {
    steps: [...steps],
    state: state as S | undefined, // checked before it is used
    messages,
    splits: 0,
    policyVersion,
    answered: { steps: steps.length, messages },
  };
}

/** What the last step showed the policy. Messages of an unfinished episode end with its answer. */
function lastView({ steps, messages }: Trajectory): View {
  return typeof steps.at(-1)!.observation === 'string' ? '' : messages.slice(0, -1);
}
