import {
  ArgumentError,
  type FilePublication,
  type GroupJob,
  type InferenceEngine,
  messageOf,
  type PublicationForm,
  parseOptions,
  type RolloutPool,
  type Task,
  type Trajectory,
  type TrajectoryGroup,
  type WeightPublication,
} from '@rlp/core';
import pLimit from 'p-limit';
import * as z from 'zod';
import { type CollectOptions, requireCollectOptions } from '../collect-options.ts';
import type { GroupStart } from '../episode/group-context.ts';
import { startsOfTasks } from '../group-starts.ts';
import { type ResolvedRolloutOptions, rolloutSchema } from '../options.ts';

const schema = rolloutSchema.extend({
  /** Name of the run. Keeps its jobs apart from those of other runs in the same queue. Default `'run'`. */
  run: z.string().min(1).default('run'),
  /** Forms of weights that workers can read. Default `['adapter', 'checkpoint']`. */
  accepts: z
    .array(z.enum(['adapter', 'checkpoint']))
    .min(1)
    .default(['adapter', 'checkpoint']),
});

/** Options of {@link pooledRollouts}. */
export interface PooledRolloutsOptions extends z.input<typeof schema> {}

/** Collects groups with the workers of a pool. A training loop takes it as `rollouts` and as `inference`. */
export class PooledRollouts<Metadata = unknown, Outcome = unknown> implements InferenceEngine {
  /** Options with their defaults. */
  readonly options: ResolvedRolloutOptions;
  readonly tellsEarly = true;
  readonly accepts: readonly PublicationForm[];
  readonly #pool: RolloutPool<Metadata, Outcome>;
  readonly #run: string;
  #publication: FilePublication | undefined;
  #lastError: unknown;
  #collections = 0;
  #notes: string[] = [];

  /** @internal Made by {@link pooledRollouts}. */
  constructor(pool: RolloutPool<Metadata, Outcome>, { run, accepts, ...options }: z.output<typeof schema>) {
    this.#pool = pool;
    this.#run = run;
    this.accepts = accepts;
    this.options = options;
  }

  /** Error of the last job that no worker could do. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** Lets later jobs bring these weights. Workers take them over before they run one. */
  async updateWeights(publication: WeightPublication): Promise<number> {
    if (publication.kind === 'shared') {
      throw new ArgumentError(
        'updateWeights: expected weights in files, which workers can read, got shared ones',
      );
    }
    this.#publication = publication;
    return publication.version;
  }

  /**
   * Collects one group per task and yields them in the order of `tasks`. Names, random streams and groups are those of `RolloutManager`.
   *
   * A job that no worker could do gives a group of trajectories with status `failed`, no group, or an error, depending on `onFailure`.
   */
  collectGroups(
    tasks: readonly Task<Metadata>[],
    options: CollectOptions<Metadata, Outcome> = {},
  ): AsyncGenerator<TrajectoryGroup<Metadata, Outcome>, void, undefined> {
    requireCollectOptions('pooledRollouts', options);
    const { iteration = this.#collections } = options;
    const starts = startsOfTasks<never, Metadata, Outcome>(tasks, { ...options, iteration }, new Map());
    this.#collections += 1;
    return this.#groups(starts, options);
  }

  async *#groups(
    starts: readonly GroupStart<never, Metadata, Outcome>[],
    { onEnded, onGroup, signal }: CollectOptions<Metadata, Outcome>,
  ): AsyncGenerator<TrajectoryGroup<Metadata, Outcome>, void, undefined> {
    const stop = new AbortController();
    const both = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
    const limit = pLimit(Math.min(this.options.concurrency, 4 * this.#pool.workers));
    const pending = starts.map((start) =>
      limit(async () => {
        const group = await this.#collect(start, both);
        for (const trajectory of group?.trajectories ?? []) onEnded?.(trajectory);
        if (group !== undefined && group.trajectories.length > 0) onGroup?.(group);
        return group;
      }),
    );
    for (const promise of pending) promise.catch(() => undefined); // reported where it is awaited below
    try {
      for await (const group of pending) {
        if (group !== undefined && group.trajectories.length > 0) yield group;
      }
    } finally {
      stop.abort(new Error('the consumer of this collection left it'));
    }
  }

  async #collect(
    start: GroupStart<never, Metadata, Outcome>,
    signal: AbortSignal,
  ): Promise<TrajectoryGroup<Metadata, Outcome> | undefined> {
    if (signal.aborted) return undefined;
    const job = this.#jobOf(start);
    try {
      return await this.#pool.run(job, { signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#lastError = error;
      this.#notes.push(messageOf(error));
      if (this.options.onFailure === 'stop') throw error;
      const failed = this.options.onFailure === 'keep' ? this.#failed(job, messageOf(error)) : [];
      return { id: job.groupId, task: job.task, trajectories: failed };
    }
  }

  #jobOf({ task, groupId, carried }: GroupStart<never, Metadata, Outcome>): GroupJob<Metadata> {
    const publication = this.#publication;
    return {
      name: `${this.#run}/${groupId}@${publication?.version ?? 'first'}`,
      ...{ task, groupId, options: this.options },
      ...(publication && { publication }),
      ...(carried && { unfinished: [...carried.values()] }),
    };
  }

  #failed({ task, groupId }: GroupJob<Metadata>, message: string): Trajectory<Metadata, Outcome>[] {
    return Array.from({ length: this.options.groupSize }, (_, member) => ({
      ...{ id: `${groupId}/${member}`, task, steps: [], messages: [], response: '', status: 'failed' },
      termination: { reason: 'error', detail: message },
      policyVersion: this.#publication?.version ?? 0,
      group: { id: groupId, member },
      failure: { boundary: 'environment', message },
    }));
  }

  /** Returns the notes since the last call: why jobs failed. */
  takeNotes(): readonly string[] {
    return this.#notes.splice(0);
  }
}

/**
 * Collects groups with the workers of a pool, instead of in this process.
 *
 * With equal weights the groups are those of a `RolloutManager` of the same options, whatever worker runs them.
 *
 * @throws OptionsError naming every problem at once.
 */
export function pooledRollouts<Metadata = unknown, Outcome = unknown>(
  pool: RolloutPool<Metadata, Outcome>,
  options: PooledRolloutsOptions = {},
): PooledRollouts<Metadata, Outcome> {
  return new PooledRollouts(pool, parseOptions('pooledRollouts', schema, options));
}
