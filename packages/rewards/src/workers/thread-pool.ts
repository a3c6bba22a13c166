import { ArgumentError } from '@rlp/core';
import pLimit from 'p-limit';
import type { ThreadAnswer, ThreadExport, ThreadRequest } from './protocol.ts';
import { type AnswerLimits, RewardThread, type ThreadSettings } from './thread.ts';

/** Threads that score, started when they are first needed and again where one had to be ended. */
export class ThreadPool {
  readonly #settings: ThreadSettings;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #threads = new Set<RewardThread>();
  readonly #idle: RewardThread[] = [];
  #ended = 0;
  #isClosed = false;

  constructor(settings: ThreadSettings, count: number) {
    this.#settings = settings;
    this.#limit = pLimit(count);
  }

  /** Threads that are there now. */
  get size(): number {
    return this.#threads.size;
  }

  /** Threads that ended, or had to be, before the pool was closed. */
  get ended(): number {
    return this.#ended;
  }

  /** What the module exports. Starts a thread; rejects if it cannot be used. */
  open(): Promise<ThreadExport> {
    return this.#limit(() => this.#withThread(({ ready }) => ready));
  }

  /** Asks the next free thread. The time counts from when the thread is asked. Rejects as {@link RewardThread.ask} does. */
  async ask(request: ThreadRequest, limits: AnswerLimits): Promise<ThreadAnswer> {
    return this.#limit(() => {
      limits.signal?.throwIfAborted();
      return this.#withThread(async (thread) => {
        await thread.ready;
        limits.signal?.throwIfAborted();
        return thread.ask(request, limits);
      });
    });
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
    this.#threads.clear();
  }

  async #withThread<Value>(use: (thread: RewardThread) => Promise<Value>): Promise<Value> {
    if (this.#isClosed) {
      throw new ArgumentError('RewardWorkers: expected open workers, got closed ones; make new ones');
    }
    const thread = this.#take();
    try {
      return await use(thread);
    } finally {
      if (thread.isAlive) this.#idle.push(thread);
      else this.#drop(thread);
    }
  }

  #take(): RewardThread {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      if (thread.isAlive) return thread;
      this.#drop(thread);
    }
    const thread = new RewardThread(this.#settings);
    this.#threads.add(thread);
    return thread;
  }

  #drop(thread: RewardThread): void {
    this.#threads.delete(thread);
    if (!this.#isClosed) this.#ended += 1;
  }
}
