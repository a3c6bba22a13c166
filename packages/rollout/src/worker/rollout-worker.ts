import {
  ArgumentError,
  EnvironmentError,
  having,
  type Message,
  needed,
  parseOptions,
  type State,
  type StepData,
  stepDataFromTrajectory,
  type TaskSource,
  type Trajectory,
} from '@rlp/core';
import * as z from 'zod';
import type { RolloutManager } from '../rollout-manager.ts';

const dependencySchema = z.strictObject({
  rollouts: having<RolloutManager>('collectGroups', 'a RolloutManager, or what agentRollouts returns'),
  tasks: needed.tasks,
});

/** Dependencies of {@link RLRolloutWorker}. */
export interface RolloutWorkerDependencies<S extends State, Metadata, Outcome> {
  /** Runs the episodes: a `RolloutManager`, or `agentRollouts` for a policy that decides on actions. */
  readonly rollouts: RolloutManager<S, Metadata, Outcome>;
  /** Where tasks come from. */
  readonly tasks: TaskSource<Metadata>;
}

/** One episode, in the form that the step-level pipeline takes. */
export interface WorkedEpisode<Metadata = unknown, Outcome = unknown> {
  /** Its steps. */
  readonly steps: readonly StepData[];
  /** The whole conversation, for the reward function. */
  readonly messages: readonly Message[];
  /** What the reward function compares with: the task's metadata. */
  readonly groundTruth: Metadata | undefined;
  readonly trajectory: Trajectory<Metadata, Outcome>;
}

/**
 * Runs one episode at a time and returns its steps.
 *
 * Calls in a row return the members of one group, which begin in the same state. Then the next group begins. Calls at the same time share
 * the run of their group. A failed episode has status `failed` and its cause.
 */
export class RLRolloutWorker<S extends State = State, Metadata = unknown, Outcome = unknown> {
  readonly #rollouts: RolloutManager<S, Metadata, Outcome>;
  readonly #tasks: TaskSource<Metadata>;
  /** Members of the group under way that nobody has asked for. */
  #waiting = 0;
  #members: Promise<readonly Trajectory<Metadata, Outcome>[]> = Promise.resolve([]);

  /** @throws OptionsError naming every problem at once. */
  constructor(dependencies: RolloutWorkerDependencies<S, Metadata, Outcome>) {
    parseOptions('RLRolloutWorker', dependencySchema, dependencies, 'RolloutWorkerDependencies');
    this.#rollouts = dependencies.rollouts;
    this.#tasks = dependencies.tasks;
  }

  /**
   * Runs the next episode.
   *
   * @param options.signal - Stops the group of the episode if this call begins it. The episode is then `aborted`, or the call rejects
   *   with the signal's reason if none began.
   * @throws ArgumentError if no task is left, and what the manager throws under its failure policy.
   */
  async runEpisode(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<WorkedEpisode<Metadata, Outcome>> {
    if (this.#waiting === 0) {
      this.#members = this.#runGroup(options.signal);
      this.#waiting = this.#rollouts.options.groupSize;
    }
    const place = this.#rollouts.options.groupSize - this.#waiting;
    this.#waiting -= 1;
    const members = this.#members;
    const trajectory = (await this.#settled(members))[place];
    if (trajectory === undefined) {
      throw new EnvironmentError(
        'RLRolloutWorker: the episode failed, and the failure policy dropped it; see the cause',
        {
          cause: this.#rollouts.lastError,
        },
      );
    }
    const { messages, task } = trajectory;
    return { steps: stepDataFromTrajectory(trajectory), messages, groundTruth: task.metadata, trajectory };
  }

  /** The members, or the error of their group. After an error the next call begins another group. */
  async #settled(members: Promise<readonly Trajectory<Metadata, Outcome>[]>) {
    try {
      return await members;
    } catch (error) {
      if (members === this.#members) this.#waiting = 0;
      throw error;
    }
  }

  async #runGroup(signal: AbortSignal | undefined): Promise<readonly Trajectory<Metadata, Outcome>[]> {
    signal?.throwIfAborted();
    const tasks = this.#tasks.take(1);
    if (tasks.length === 0)
      throw new ArgumentError(
        'RLRolloutWorker: the task source has no task left; give one that repeats, such as taskSource',
      );
    for await (const { trajectories } of this.#rollouts.collectGroups(tasks, { signal })) return trajectories;
    signal?.throwIfAborted();
    return [];
  }
}
