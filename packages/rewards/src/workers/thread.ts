import { Worker } from 'node:worker_threads';
import { onAbort } from '@rlp/core';
import { messageOf } from '../message-of.ts';
import { threadFailure } from '../thread-failure.ts';
import { ThreadError } from './failure.ts';
import type { ThreadAnswer, ThreadData, ThreadExport, ThreadMessage, ThreadRequest } from './protocol.ts';

/** How threads are started. */
export interface ThreadSettings {
  /** The thread's program. */
  readonly program: URL;
  readonly data: ThreadData;
  /** Its flags of Node; those of the process if absent. */
  readonly execArgv: readonly string[] | undefined;
  readonly startMs: number;
  /** Heap of a thread in MB; the platform's own limit if absent. */
  readonly heapMb: number | undefined;
}

/** How long an answer may take. */
export interface AnswerLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

interface Waiting {
  readonly settle: (message: ThreadMessage) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A thread that scores, asked one thing at a time. It keeps the process alive only while it is asked something. Whatever does
 * not answer in time is ended by force, endless loops included; a thread that has ended stays so.
 */
export class RewardThread {
  /** Rejects if the module cannot be used. */
  readonly ready: Promise<ThreadExport>;
  readonly #worker: Worker;
  #waiting: Waiting | undefined;
  #hasEnded = false;

  constructor({ program, data, execArgv, startMs, heapMb }: ThreadSettings) {
    // A text that imports the program: under `--input-type`, which a thread may inherit, Node takes no file.
    this.#worker = new Worker(`import(${JSON.stringify(program.href)})`, {
      eval: true,
      workerData: data,
      name: 'rlp-rewards',
      ...(execArgv && { execArgv: [...execArgv] }),
      ...(heapMb !== undefined && { resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
    });
    this.#worker.on('message', (message: ThreadMessage) => this.#waiting?.settle(message));
    this.#worker.on('messageerror', (error) => this.#waiting?.fail(error));
    this.#worker.on('error', (error) =>
      this.#end(new ThreadError('crashed', threadFailure(error, program), { cause: error })),
    );
    this.#worker.on('exit', (code) =>
      this.#end(new ThreadError('crashed', `the thread ended with exit code ${code}`)),
    );
    this.ready = this.#answer({ timeoutMs: startMs, signal: undefined }).then((message) => {
      if (message.kind === 'ready') return message.exported;
      void this.terminate();
      throw new ThreadError(
        'crashed',
        message.kind === 'unusable' ? message.reason : 'the thread did not start',
      );
    });
    // Whoever started the thread hears of it where it waits for it.
    this.ready.catch(() => undefined);
  }

  /** Whether it can be asked. */
  get isAlive(): boolean {
    return !this.#hasEnded;
  }

  /** Scores. Rejects with a {@link ThreadError}, or with the signal's reason, which ends the thread. */
  async ask(request: ThreadRequest, limits: AnswerLimits): Promise<ThreadAnswer> {
    const answer = this.#answer(limits);
    try {
      this.#worker.postMessage(request);
    } catch (error) {
      this.#waiting?.fail(new ThreadError('threw', `cannot be sent to a thread: ${messageOf(error)}`));
    }
    const message = await answer;
    if (message.kind === 'group' || message.kind === 'episodes') return message;
    throw new ThreadError('threw', message.kind === 'threw' ? message.reason : 'the thread lost its place');
  }

  /** Ends the thread, whatever it does. */
  async terminate(): Promise<void> {
    this.#end(new ThreadError('crashed', 'the thread was ended'));
    await this.#worker.terminate();
  }

  async #answer({ timeoutMs, signal }: AnswerLimits): Promise<ThreadMessage> {
    this.#worker.ref();
    let timer: NodeJS.Timeout | undefined;
    let release: () => void = () => undefined;
    try {
      return await new Promise<ThreadMessage>((resolve, reject) => {
        this.#waiting = { settle: resolve, fail: reject };
        const kill = (reason: unknown) => {
          reject(reason);
          void this.terminate();
        };
        timer = setTimeout(
          () => kill(new ThreadError('timed-out', `took longer than ${timeoutMs} ms; the thread was ended`)),
          timeoutMs,
        );
        if (signal) release = onAbort(signal, () => kill(signal.reason));
        if (this.#hasEnded) reject(new ThreadError('crashed', 'the thread had ended'));
      });
    } finally {
      this.#waiting = undefined;
      clearTimeout(timer);
      release();
      this.#worker.unref();
    }
  }

  #end(error: ThreadError): void {
    this.#hasEnded = true;
    this.#waiting?.fail(error);
  }
}
