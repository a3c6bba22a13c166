import { createHash } from 'node:crypto';
import {
  ArgumentError,
  EngineError,
  type GroupJob,
  orAborted,
  parseOptions,
  type RolloutPool,
  TimeoutError,
  type TrajectoryGroup,
} from '@rlp/core';
import type { Queue, QueueEvents } from 'bullmq';
import type { Redis } from 'ioredis';
import type * as z from 'zod';
import { loadGroup } from './group-results.ts';
import { type QueuePeers, queuePeers } from './peers.ts';
import { bullRolloutsSchema, connectionTo } from './queue-options.ts';

/** Options of {@link bullRollouts}. */
export interface BullRolloutsOptions extends z.input<typeof bullRolloutsSchema> {}

type Options = z.output<typeof bullRolloutsSchema>;

interface Waiting<Group> {
  readonly job: GroupJob;
  readonly done: Promise<Group>;
  readonly resolve: (group: Group) => void;
  readonly reject: (error: unknown) => void;
  clients: number;
}

/**
 * Group jobs on a queue of BullMQ. Workers of {@link serveBullRollouts} run them.
 *
 * The id of a job in the queue is its name. So a restarted controller finds the jobs that it sent before, and their groups. If Redis loses
 * a job, the controller sends it again.
 */
export class BullRollouts<Metadata = unknown, Outcome = unknown>
  implements RolloutPool<Metadata, Outcome>, AsyncDisposable
{
  readonly workers: number;
  readonly #options: Options;
  readonly #connections: readonly [Redis, Redis];
  readonly #queue: Queue<GroupJob, object>;
  readonly #events: QueueEvents;
  readonly #waiting = new Map<string, Waiting<TrajectoryGroup<Metadata, Outcome>>>();
  readonly #timer: NodeJS.Timeout;
  #closed: Promise<void> | undefined;

  /** @internal Made by {@link bullRollouts}. */
  constructor(options: Options, peers: QueuePeers) {
    const { url, queue, pollMs, workers } = options;
    this.#options = options;
    this.workers = workers;
    this.#connections = [connectionTo(url, peers), connectionTo(url, peers)];
    this.#queue = new peers.bullmq.Queue(queue, { connection: this.#connections[0] });
    this.#events = new peers.bullmq.QueueEvents(queue, { connection: this.#connections[1] });
    this.#queue.on('error', () => undefined);
    this.#events.on('error', () => undefined);
    this.#events.on('completed', ({ jobId }) => void this.#look(jobId));
    this.#events.on('failed', ({ jobId }) => void this.#look(jobId));
    this.#timer = setInterval(() => {
      for (const id of this.#waiting.keys()) void this.#look(id);
    }, pollMs);
    this.#timer.unref();
  }

  async run(
    job: GroupJob<Metadata>,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<TrajectoryGroup<Metadata, Outcome>> {
    if (this.#closed) throw new ArgumentError('bullRollouts: the pool is closed; make another');
    signal?.throwIfAborted();
    const id = createHash('sha256').update(job.name).digest('hex');
    const waiting = this.#waiting.get(id) ?? this.#send(id, job);
    waiting.clients += 1;
    try {
      return await orAborted(waiting.done, signal);
    } finally {
      waiting.clients -= 1;
      if (waiting.clients === 0 && this.#waiting.delete(id)) void this.#withdraw(id);
    }
  }

  /** Disconnects. Jobs that were sent stay in the queue. May be called again. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      clearInterval(this.#timer);
      const error = new ArgumentError(
        'bullRollouts: expected an open pool, but it was closed; make another one',
      );
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
      for (const connection of this.#connections) connection.disconnect();
      await Promise.allSettled([this.#queue.close(), this.#events.close()]);
    })();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #send(id: string, job: GroupJob<Metadata>): Waiting<TrajectoryGroup<Metadata, Outcome>> {
    const { promise, resolve, reject } = withResolvers<TrajectoryGroup<Metadata, Outcome>>();
    const { deadlineMs } = this.#options;
    const late = new TimeoutError(
      `group job ${job.name}: no group within ${deadlineMs} ms; check that workers of the queue run, or raise \`deadlineMs\``,
    );
    const timer = setTimeout(() => reject(late), deadlineMs);
    const done = promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(id);
    });
    done.catch(() => undefined); // reported to those who wait
    const waiting = { job, done, resolve, reject, clients: 0 };
    this.#waiting.set(id, waiting);
    this.#add(id, job).then(() => this.#look(id), reject);
    return waiting;
  }

  async #add(id: string, job: GroupJob): Promise<void> {
    const { attempts, backoffMs, keepSeconds } = this.#options;
    const known = await this.#queue.getJob(id);
    // A controller that begins again gives jobs that failed another chance.
    if (await known?.isFailed()) await known!.remove();
    await this.#queue.add('group', job, {
      ...{ jobId: id, attempts, backoff: { type: 'exponential', delay: backoffMs } },
      ...{ removeOnComplete: { age: keepSeconds }, removeOnFail: { age: keepSeconds } },
    });
  }

  /** Looks whether a job is done. */
  async #look(id: string): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    try {
      const state = await this.#queue.getJobState(id);
      if (state === 'unknown') return await this.#add(id, waiting.job);
      if (state !== 'completed' && state !== 'failed') return;
      // Read after its state, so that the result is there.
      const found = await this.#queue.getJob(id);
      if (found === undefined) return;
      if (state === 'completed') {
        waiting.resolve(await loadGroup(waiting.job, found.returnvalue, this.#options.results));
      } else {
        waiting.reject(new EngineError(`group job ${waiting.job.name}: ${found.failedReason}`));
      }
    } catch (error) {
      // Redis is away: the next look finds out. A result that cannot be read is an error.
      if (error instanceof EngineError || error instanceof SyntaxError) waiting.reject(error);
    }
  }

  /** Takes a job back that nobody waits for, if no worker has begun it. */
  async #withdraw(id: string): Promise<void> {
    if (this.#closed) return;
    const job = await this.#queue.getJob(id).catch(() => undefined);
    const isWaiting = await job?.isWaiting().catch(() => false);
    if (isWaiting) await job!.remove().catch(() => undefined);
  }
}

/**
 * Sends group jobs to workers on other machines, by BullMQ on Redis.
 *
 * @throws OptionsError naming every problem at once, MissingPeerError if `bullmq` or `ioredis` is not installed.
 */
export async function bullRollouts<Metadata = unknown, Outcome = unknown>(
  options: BullRolloutsOptions,
): Promise<BullRollouts<Metadata, Outcome>> {
  const parsed = parseOptions('bullRollouts', bullRolloutsSchema, options);
  return new BullRollouts(parsed, await queuePeers('bullRollouts'));
}

function withResolvers<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Value>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
