import { ArgumentError, onAbort, orAborted } from '@rlp/core';
import pLimit from 'p-limit';
import { type AnswerLimits, Thread } from './thread.ts';
import type { ThreadSettings } from './thread-settings.ts';

/** Threads that answer requests. They start on first use, and again after one was killed. */
export class ThreadPool<Request, Answer, Ready = void> implements AsyncDisposable {
  readonly #settings: ThreadSettings;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #threads = new Set<Thread<Request, Answer, Ready>>();
  readonly #idle: Thread<Request, Answer, Ready>[] = [];
  #started = 0;
  #ended = 0;
  #isClosed = false;

  /** @param count - Maximum number of threads. */
  constructor(settings: ThreadSettings, count: number) {
    this.#settings = settings;
    this.#limit = pLimit(count);
  }

  /** Current number of threads. */
  get size(): number {
    return this.#threads.size;
  }

  /** Number of threads started since the pool was created. */
  get started(): number {
    return this.#started;
  }

  /** Number of threads that ended or were killed before the pool was closed. */
  get ended(): number {
    return this.#ended;
  }

  /** Starts a thread and returns its `ready` value. Rejects if the thread cannot be used. */
  open(): Promise<Ready> {
    return this.#limit(() => this.#withThread(({ ready }) => ready));
  }

  /**
   * Sends a request to the next free thread. The time limit starts when the thread receives it.
   *
   * Rejects with a `ThreadError` or with the signal's reason. An abort kills the thread that works on the
   * request.
   */
  ask(request: Request, limits: AnswerLimits): Promise<Answer> {
    const { signal } = limits;
    const answer = this.#limit(() => {
      signal?.throwIfAborted();
      return this.#withThread(async (thread) => {
        await started(thread, signal);
        return thread.ask(request, limits);
      });
    });
    return orAborted(answer, signal);
  }

  /** Kills all threads. Open requests fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
    this.#threads.clear();
  }

  /** {@link ThreadPool.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #withThread<Value>(use: (thread: Thread<Request, Answer, Ready>) => Promise<Value>): Promise<Value> {
    if (this.#isClosed) {
      throw new ArgumentError(
        `${this.#settings.name}: expected open threads, got closed ones; make new ones`,
      );
    }
    const thread = this.#take();
    try {
      return await use(thread);
    } finally {
      if (thread.isAlive) this.#idle.push(thread);
      else this.#drop(thread);
    }
  }

  #take(): Thread<Request, Answer, Ready> {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      if (thread.isAlive) return thread;
      this.#drop(thread);
    }
    const thread = new Thread<Request, Answer, Ready>(this.#settings);
    this.#started += 1;
    this.#threads.add(thread);
    return thread;
  }

  #drop(thread: Thread<Request, Answer, Ready>): void {
    this.#threads.delete(thread);
    if (!this.#isClosed) this.#ended += 1;
  }
}

/** Waits until a thread is ready. An abort kills the thread. */
async function started<Request, Answer, Ready>(
  thread: Thread<Request, Answer, Ready>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const release = signal && onAbort(signal, () => void thread.terminate());
  try {
    await thread.ready;
  } finally {
    release?.();
    signal?.throwIfAborted();
  }
}
