import {
  callback,
  needed,
  parseOptions,
  type State,
  type Task,
  type TaskSource,
  type Trajectory,
  type TrajectoryGroup,
  withForeignNames,
} from '@rlp/core';
import * as z from 'zod';

/** Name, signal and callbacks of a collection. */
export interface CollectOptions<Metadata = unknown, Outcome = unknown> {
  /**
   * Names the random streams, together with the run's seed and the task's id. Equal iterations with equal weights give equal trajectories.
   * Pass the training iteration, so that a resumed run continues as the interrupted one would have. Defaults to the number of collections
   * made by this manager.
   */
  readonly iteration?: number | undefined;
  /** Index of the collection within the iteration. Each has different random streams. Default 0. */
  readonly round?: number | undefined;
  /** Stops the collection. Unfinished episodes are returned as `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence while the collection waits for a sampler that does not answer. Default none. */
  readonly onNote?: ((text: string) => void) | undefined;
  /** Called when an episode ends, before its group ends. An aborted episode has not ended. Default none. */
  readonly onEnded?: ((trajectory: Trajectory<Metadata, Outcome>) => void) | undefined;
  /** Called when a group ends, possibly before groups in front of it are yielded. Default none. */
  readonly onGroup?: ((group: TrajectoryGroup<Metadata, Outcome>) => void) | undefined;
  /**
   * Episodes of an earlier collection with this iteration and round. Their groups continue from them, with the same random streams.
   * Episodes of other groups are ignored. Default none.
   */
  readonly unfinished?: readonly Trajectory<Metadata, Outcome>[] | undefined;
}

/** Number of trajectories and limits of a collection. */
export interface CollectRolloutsOptions<Metadata = unknown> {
  /** Where tasks come from. Whole groups are taken until there are enough trajectories. */
  readonly tasks: TaskSource<Metadata>;
  /** Minimum number of trajectories. Fewer are collected only if the signal fires. */
  readonly minTrajectories: number;
  /** Replaces the manager's `maxTurns` for this collection. */
  readonly maxTurns?: number | undefined;
  /** See {@link CollectOptions.iteration}. */
  readonly iteration?: number | undefined;
  /** Stops the collection. */
  readonly signal?: AbortSignal | undefined;
}

/** A state in the middle of an episode, and the task of that episode. */
export interface EpisodeState<S extends State = State, Metadata = unknown> {
  readonly task: Task<Metadata>;
  readonly state: S;
}

const signal = z
  .custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal')
  .optional();

const collectSchema = z.strictObject({
  iteration: z.int().optional(),
  round: z.int().optional(),
  signal,
  onNote: callback().optional(),
  onEnded: callback().optional(),
  onGroup: callback().optional(),
  unfinished: z.unknown().optional(),
} satisfies Record<keyof CollectOptions, z.ZodType>);

const collectRolloutsFields = z.strictObject({
  tasks: needed.tasks,
  minTrajectories: z.int().min(1),
  maxTurns: z.int().min(1).optional(),
  iteration: z.int().optional(),
  signal,
} satisfies Record<keyof CollectRolloutsOptions, z.ZodType>);

const collectRolloutsSchema = withForeignNames(collectRolloutsFields, { maxTurns: 'max_steps_per_rollout' });

/**
 * Checks the options of a collection.
 *
 * @param owner - Begins the error message.
 * @throws OptionsError naming every problem.
 */
export function requireCollectOptions(owner: string, options: object): void {
  parseOptions(owner, collectSchema, options, 'CollectOptions');
}

/** @throws OptionsError naming every problem of the options of `collectRollouts`. */
export function requireCollectRolloutsOptions(options: object): void {
  parseOptions('collectRollouts', collectRolloutsSchema, options, 'CollectRolloutsOptions');
}
