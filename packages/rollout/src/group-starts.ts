import { ArgumentError, described, type State, type Task, type Trajectory } from '@rlp/core';
import type { CollectOptions, EpisodeState } from './collect-options.ts';
import type { GroupStart } from './episode/group-context.ts';

/** Largest place in a group that is not a mistake. */
const mostMembers = 65_535;

/** Which collection a group belongs to. */
interface Collection {
  readonly iteration: number;
  readonly round?: number | undefined;
}

function requireList(method: string, given: unknown, items: string): void {
  if (Array.isArray(given)) return;
  const isSource = typeof given === 'object' && given !== null && 'take' in given;
  const came = isSource ? 'a task source; write source.take(8)' : `${described(given)}; write [ … ]`;
  throw new ArgumentError(`${method}: expected a list of ${items}, got ${came}`);
}

function requireTasks(tasks: readonly Pick<Task, 'id'>[]): void {
  requireList('collectGroups', tasks, 'tasks');
  const nameless = tasks.findIndex((task) => typeof task?.id !== 'string');
  if (nameless < 0) return;
  throw new ArgumentError(
    `collectGroups: expected tasks with an id and a prompt, got ${described(tasks[nameless])} at place ${nameless}`,
  );
}

/** A group per task, named `collection/task`, and `collection/task#n` for its n-th repetition within one collection. */
export function startsOfTasks<S extends State, Metadata, Outcome>(
  tasks: readonly Task<Metadata>[],
  { unfinished = [], ...at }: Collection & Pick<CollectOptions<Metadata, Outcome>, 'unfinished'>,
  repetitions: Map<string, number>,
): GroupStart<S, Metadata, Outcome>[] {
  requireTasks(tasks);
  requireList('collectGroups', unfinished, 'unfinished trajectories');
  const carried = byGroup(unfinished);
  return tasks.map((task) => {
    const groupId = nameOf(task.id, at, repetitions);
    return { task, groupId, carried: carried.get(groupId) };
  });
}

/** A group per state, named after the turn that it begins in. */
export function startsOfStates<S extends State, Metadata, Outcome>(
  states: readonly EpisodeState<S, Metadata>[],
  at: Collection,
): GroupStart<S, Metadata, Outcome>[] {
  requireList('continueFrom', states, '{ task, state }');
  const repetitions = new Map<string, number>();
  return states.map(({ task, state }, index) => {
    if (typeof task?.id !== 'string') {
      throw new ArgumentError(
        `continueFrom: expected { task, state } with the task that the state belongs to, got none at place ${index}`,
      );
    }
    const groupId = nameOf(`${task.id}~${state?.stepCount}`, at, repetitions);
    return { task, groupId, state };
  });
}

/** A group per name that the trajectories have. */
export function startsOfTrajectories<S extends State, Metadata, Outcome>(
  trajectories: readonly Trajectory<Metadata, Outcome>[],
): GroupStart<S, Metadata, Outcome>[] {
  requireList('resume', trajectories, 'trajectories');
  for (const [index, given] of trajectories.entries()) {
    if (typeof given?.task?.id === 'string' && given.group !== undefined) continue;
    const came =
      given?.task === undefined
        ? `the entry at place ${index} is not a trajectory`
        : `trajectory "${given.id}" has no group`;
    throw new ArgumentError(`resume: ${came}; pass trajectories that a RolloutManager collected`);
  }
  return Array.from(byGroup(trajectories), ([groupId, carried]) => {
    const [first] = [...carried.values()];
    return { task: first!.task, groupId, carried };
  });
}

/** Names of the groups of a collection: `collection/task`, and `collection/task#n` for the n-th repetition of a task in it. */
export function groupNames(tasks: readonly Pick<Task, 'id'>[], at: Collection): string[] {
  requireTasks(tasks);
  const repetitions = new Map<string, number>();
  return tasks.map(({ id }) => nameOf(id, at, repetitions));
}

function nameOf(id: string, { iteration, round = 0 }: Collection, repetitions: Map<string, number>): string {
  const collection = round === 0 ? `${iteration}` : `${iteration}.${round}`;
  const repetition = repetitions.get(id) ?? 0;
  repetitions.set(id, repetition + 1);
  return repetition === 0 ? `${collection}/${id}` : `${collection}/${id}#${repetition}`;
}

function byGroup<Metadata, Outcome>(trajectories: readonly Trajectory<Metadata, Outcome>[]) {
  const groups = new Map<string, Map<number, Trajectory<Metadata, Outcome>>>();
  for (const trajectory of trajectories) {
    if (trajectory.group === undefined) continue;
    const { id, member } = trajectory.group;
    const members = groups.get(id) ?? new Map<number, Trajectory<Metadata, Outcome>>();
    if (!Number.isInteger(member) || member < 0 || member > mostMembers) {
      throw new ArgumentError(
        `unfinished episodes: trajectory "${trajectory.id}" is member ${member} of its group, expected a whole number from 0 to ${mostMembers}`,
      );
    }
    if (members.has(member)) {
      throw new ArgumentError(
        `unfinished episodes: two trajectories are member ${member} of the group "${id}"; pass the one that continues`,
      );
    }
    groups.set(id, members.set(member, trajectory));
  }
  return groups;
}
