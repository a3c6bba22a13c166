import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type GroupJob,
  onAbort,
  orAborted,
  parseOptions,
  type RolloutPool,
  type TrajectoryGroup,
} from '@rlp/core';
import { ThreadError, ThreadPool } from '@rlp/sandbox/threads';
import { type RolloutWorkersOptions, workersSchema } from './worker-options.ts';

/**
 * Milliseconds before a job is tried again. If several workers end at once, the pool hears of one before the others, and another dead one
 * would cost another attempt. No event says that the others live, so this is a time, and short beside the start of a worker.
 */
const pauseMs = 100;

type Threads<Metadata, Outcome> = ThreadPool<
  GroupJob<Metadata>,
  TrajectoryGroup<Metadata, Outcome>,
  undefined
>;

/** A job under way, and who waits for it. */
interface Running<Group> {
  readonly done: Promise<Group>;
  readonly stop: AbortController;
  waiting: number;
}

/** Threads or processes that run group jobs. */
export class RolloutWorkers<Metadata = unknown, Outcome = unknown>
  implements RolloutPool<Metadata, Outcome>, AsyncDisposable
{
  readonly workers: number;
  readonly #threads: Threads<Metadata, Outcome>;
  readonly #limits: { readonly timeoutMs: number; readonly attempts: number };
  readonly #running = new Map<string, Running<TrajectoryGroup<Metadata, Outcome>>>();

  /** @internal Made by `createRolloutWorkers`. */
  constructor(
    threads: Threads<Metadata, Outcome>,
    options: { readonly workers: number; readonly timeoutMs: number; readonly attempts: number },
  ) {
    this.#threads = threads;
    this.#limits = options;
    this.workers = options.workers;
  }

  /** Workers that ended or were ended, and were replaced. */
  get ended(): number {
    return this.#threads.ended;
  }

  async run(
    job: GroupJob<Metadata>,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<TrajectoryGroup<Metadata, Outcome>> {
    signal?.throwIfAborted();
    const running = this.#running.get(job.name) ?? this.#start(job);
    running.waiting += 1;
    const leave = () => {
      running.waiting -= 1;
      if (running.waiting === 0) running.stop.abort(signal?.reason);
    };
    const release = signal && onAbort(signal, leave);
    try {
      return await orAborted(running.done, signal);
    } finally {
      release?.();
    }
  }

  /** Ends the workers and the running jobs. May be called again. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(job: GroupJob<Metadata>): Running<TrajectoryGroup<Metadata, Outcome>> {
    const stop = new AbortController();
    const done = this.#attempt(job, stop.signal).finally(() => this.#running.delete(job.name));
    done.catch(() => undefined); // reported to those who wait
    const running = { done, stop, waiting: 0 };
    this.#running.set(job.name, running);
    return running;
  }

  async #attempt(job: GroupJob<Metadata>, signal: AbortSignal): Promise<TrajectoryGroup<Metadata, Outcome>> {
    const { timeoutMs, attempts } = this.#limits;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#threads.ask(job, { timeoutMs, signal });
      } catch (error) {
        if (!(error instanceof ThreadError)) throw error;
        if (error.failure !== 'threw' && attempt < attempts) {
          await pause(pauseMs, undefined, { signal });
          continue;
        }
        const tried = attempt === 1 ? '' : `, tried ${attempt} times`;
        throw new ThreadError(error.failure, `group job ${job.name}${tried}: ${error.message}`, {
          cause: error,
        });
      }
    }
  }
}

/** Starts a worker of `program` to check that the module can be used. See `createRolloutWorkers`. */
export async function openRolloutWorkers<Metadata, Outcome>(
  options: RolloutWorkersOptions,
  program: URL,
): Promise<RolloutWorkers<Metadata, Outcome>> {
  const given = parseOptions('createRolloutWorkers', workersSchema, options);
  const { module, export: exportName, kind, startMs } = given;
  const workers = given.workers ?? Math.max(1, availableParallelism() - 1);
  const data = { module: String(module), exportName };
  const settings = { program, data, name: 'RolloutWorkers', kind, startMs };
  const threads: Threads<Metadata, Outcome> = new ThreadPool(settings, workers);
  try {
    await threads.open();
    return new RolloutWorkers(threads, { ...given, workers });
  } catch (error) {
    await threads.close();
    throw error;
  }
}
