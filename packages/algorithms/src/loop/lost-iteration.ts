import {
  causeOf,
  messageOf,
  plural,
  rootCause,
  type ScoredTrajectory,
  type Trajectory,
  withPlace,
} from '@rlp/core';
import type { Collection } from './collect.ts';
import type { Stop } from './run-stopped.ts';

/** The first failure behind an iteration that brought nothing. */
interface FirstFailure {
  readonly kind: 'episode' | 'reward';
  /** Where it happened, such as `at the sampler`. */
  readonly place: string;
  readonly message: string;
  readonly error: unknown;
}

/** How the episodes of an iteration ended. */
interface Outcome {
  readonly tasks: number;
  readonly episodes: number;
  readonly failed: number;
  /** Finished without a reward. */
  readonly unscored: number;
  readonly first?: FirstFailure | undefined;
  /** How the first episode ended if all of them ended, none failed, and the policy said nothing in any. */
  readonly unasked?: Trajectory['termination'] | 'completed' | undefined;
  /** Thrown by the reward computer, which should not. */
  readonly rejection?: unknown;
}

/** A way in which an iteration can bring nothing to learn from. The first that applies names it. */
interface Cause {
  readonly reason: Stop['reason'];
  readonly applies: (outcome: Outcome) => boolean;
  readonly sentence: (outcome: Outcome) => string;
  readonly remedy: string;
}

const allOf = (count: number, one: string, many: string) =>
  count === 1 ? `the only ${one}` : `all ${count} ${many}`;

const causes: readonly Cause[] = [
  {
    reason: 'rewards-rejected',
    applies: ({ rejection }) => rejection !== undefined,
    sentence: ({ first }) => `the reward computer failed: ${first?.message}`,
    remedy: 'return null for what it cannot score',
  },
  {
    reason: 'nothing-collected',
    applies: ({ episodes }) => episodes === 0,
    sentence: ({ tasks, first }) =>
      `no episode of ${plural(tasks, 'task')} was kept${first ? `; the last failure: ${first.message}` : ''}`,
    remedy: 'correct the failure, or keep failed episodes with `rollout.onFailure`',
  },
  {
    reason: 'nothing-collected',
    applies: ({ unasked }) => unasked === 'completed',
    sentence: ({ episodes }) =>
      `${allOf(episodes, 'episode was', 'episodes were')} over before the policy was asked`,
    remedy: 'make isTerminal of the environment false for the state that reset returns',
  },
  {
    reason: 'nothing-collected',
    applies: ({ unasked }) => unasked !== undefined,
    sentence: ({ episodes, unasked }) =>
      `${allOf(episodes, 'episode was', 'episodes were')} cut before the policy answered, the first by ${cutOf(unasked)}`,
    remedy: 'shorten the prompts, raise the limit, or correct what takes so long',
  },
  {
    reason: 'episodes-failed',
    applies: ({ failed, episodes }) => failed === episodes,
    sentence: ({ failed, first }) =>
      `${allOf(failed, 'episode', 'episodes')} failed, the first ${first?.place}: ${first?.message}`,
    remedy: 'correct the environment, the tasks or the sampler',
  },
  {
    reason: 'rewards-failed',
    applies: ({ unscored, failed, episodes, first }) =>
      unscored + failed === episodes && first?.kind === 'reward',
    sentence: ({ unscored, first }) =>
      `none of ${unscored} finished episodes got a reward: ${first?.message}`,
    remedy: 'correct the reward, or bring its judge back and resume',
  },
  {
    reason: 'rewards-null',
    applies: ({ unscored, failed, episodes }) => unscored + failed === episodes,
    sentence: ({ unscored }) => `the rewards of all ${unscored} finished episodes are null`,
    remedy: 'return a number if an answer can be judged',
  },
  {
    reason: 'rewards-missing',
    applies: () => true,
    sentence: ({ unscored, failed, episodes, first }) =>
      `${failed + unscored} of ${plural(episodes, 'episode')} ${failed + unscored === 1 ? 'has' : 'have'} no reward${first ? `, the first failed ${first.place}: ${first.message}` : ''}`,
    remedy: 'correct the failure, or raise `failureBudget.share`',
  },
];

/** Why an iteration is lost: `share` of its episodes or more have no reward. `undefined` if it is not. */
export function causeOfLoss(
  { collected, taken, rejection }: Collection,
  share: number,
  lastError: unknown,
): (Stop & { readonly error: unknown }) | undefined {
  const scored = collected.flatMap((group) => group.scored);
  const missing = scored.filter(({ reward }) => reward === null);
  const unasked = unaskedOf(scored);
  const isEnough = scored.length > 0 && missing.length < share * scored.length;
  if (rejection === undefined && isEnough && unasked === undefined) return undefined;
  const failed = missing.filter(({ trajectory }) => trajectory.status === 'failed').length;
  const first = rejection === undefined ? (firstFailure(missing) ?? dropped(lastError)) : rejected(rejection);
  const outcome: Outcome = {
    unasked,
    tasks: taken,
    episodes: scored.length,
    failed,
    unscored: missing.length - failed,
    first,
    rejection,
  };
  const { reason, sentence, remedy } = causes.find((cause) => cause.applies(outcome))!;
  const error = first?.error;
  return { reason, sentence: sentence(outcome), remedy, error, cause: rootCause(error) };
}

function unaskedOf(scored: readonly ScoredTrajectory[]): Outcome['unasked'] {
  const isSilent = ({ trajectory: { steps, status } }: ScoredTrajectory) =>
    steps.length === 0 && (status === 'completed' || status === 'truncated');
  if (scored.length === 0 || !scored.every(isSilent)) return undefined;
  const cut = scored.find(({ trajectory: { status } }) => status === 'truncated');
  return cut === undefined ? 'completed' : cut.trajectory.termination;
}

function cutOf(unasked: Outcome['unasked']): string {
  if (unasked === undefined || unasked === 'completed') return 'a limit';
  const { reason, detail } = unasked;
  return `its limit of ${reason}${detail === undefined ? '' : ` (${detail})`}`;
}

function firstFailure(missing: readonly ScoredTrajectory[]): FirstFailure | undefined {
  // A broken reward explains more than a broken episode beside it.
  const reward = missing.flatMap(({ trajectory, failures = [] }) =>
    trajectory.status === 'failed' ? [] : failures,
  )[0];
  if (reward !== undefined) {
    const { source, message } = reward;
    const error = causeOf(reward);
    return { kind: 'reward', place: `in ${source}`, message: withPlace(message, error), error };
  }
  const episode = missing.find(({ trajectory }) => trajectory.failure !== undefined)?.trajectory.failure;
  if (episode === undefined) return undefined;
  const { boundary, message } = episode;
  return { kind: 'episode', place: `at the ${boundary}`, message, error: causeOf(episode) };
}

/** Groups that the failure policy dropped left their error with what collects them. */
function dropped(error: unknown): FirstFailure | undefined {
  return error instanceof Error
    ? { kind: 'episode', place: 'before', message: error.message, error }
    : undefined;
}

function rejected(error: unknown): FirstFailure {
  return { kind: 'reward', place: 'in the rewards', message: messageOf(error), error };
}
