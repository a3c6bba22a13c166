import * as z from 'zod';
import { type Task, taskSchema } from './task.ts';
import { type Trajectory, type TrajectoryGroup, trajectorySchema } from './trajectory.ts';

/** Work for a worker: one group of one task. Plain data, so it can go to another machine. */
export interface GroupJob<Metadata = unknown> {
  /** Unique. Two jobs of one name are one job, so a job may be delivered twice. */
  readonly name: string;
  readonly task: Task<Metadata>;
  /** Names the group, its members and their random streams. Equal names and weights give equal groups on every worker. */
  readonly groupId: string;
  /** Options of the worker's rollout manager, such as `seed` and `groupSize`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Weights to sample with. Default: those that the worker's sampler has. */
  readonly publication?: FilePublication | undefined;
  /** Episodes of the group that another collection began. Default none. */
  readonly unfinished?: readonly Trajectory<Metadata>[] | undefined;
}

/** Published weights in files that workers can read. */
export interface FilePublication {
  readonly kind: 'adapter' | 'checkpoint';
  readonly version: number;
  readonly path: string;
  readonly baseModel?: string | undefined;
}

/** Schema of {@link GroupJob} with task metadata left as it is. */
export const groupJobSchema: z.ZodType<GroupJob> = z.strictObject({
  name: z.string().min(1),
  task: taskSchema,
  groupId: z.string().min(1),
  options: z.record(z.string(), z.unknown()),
  publication: z
    .strictObject({
      kind: z.enum(['adapter', 'checkpoint']),
      version: z.int().nonnegative(),
      path: z.string().min(1),
      baseModel: z.string().optional(),
    })
    .optional(),
  unfinished: z.array(trajectorySchema).optional(),
});

/** Workers that run group jobs: threads, processes or machines. */
export interface RolloutPool<Metadata = unknown, Outcome = unknown> {
  /** Jobs that the pool runs at once. */
  readonly workers: number;
  /**
   * Runs a job. Jobs of one name that run at the same time run once.
   *
   * A worker that ends takes no job with it: another does it again. Rejects with the signal's reason once aborted, with an `RlpError` for a
   * job that no worker could do, and with an `ArgumentError` once closed.
   */
  run(
    job: GroupJob<Metadata>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<TrajectoryGroup<Metadata, Outcome>>;
  /** Ends the workers of this process. May be called again. */
  close(): Promise<void>;
}
