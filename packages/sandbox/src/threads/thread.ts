import { Worker } from 'node:worker_threads';
import { messageOf, onAbort, startDeadline } from '@rlp/core';
import { tsxRegister } from './loader-flags.ts';
import { ProcessWorker } from './process-worker.ts';
import type { ThreadMessage } from './protocol.ts';
import { ThreadError } from './thread-error.ts';
import { threadFailure } from './thread-failure.ts';
import type { ThreadSettings } from './thread-settings.ts';

/** Limits of one answer. */
export interface AnswerLimits {
  /** Time until the thread is killed, in milliseconds. */
  readonly timeoutMs: number;
  /** Kills the thread and rejects with its reason. */
  readonly signal: AbortSignal | undefined;
}

interface Waiting<Ready, Answer> {
  readonly settle: (message: ThreadMessage<Ready, Answer>) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A thread that answers one request at a time.
 *
 * It keeps the process alive only while a request is open. A thread that does not answer in time is killed,
 * even in an endless loop. A thread that has ended is not started again.
 */
export class Thread<Request, Answer, Ready> {
  /** Value that the thread reports at its start. Rejects if the thread cannot be used. */
  readonly ready: Promise<Ready>;
  readonly #worker: Worker | ProcessWorker;
  #waiting: Waiting<Ready, Answer> | undefined;
  #hasEnded = false;
  #isTerminating = false;

  constructor(settings: ThreadSettings) {
    const { program, startMs } = settings;
    this.#worker = settings.kind === 'process' ? new ProcessWorker(settings) : workerOf(settings);
    this.#worker.on('message', (message: ThreadMessage<Ready, Answer>) => this.#waiting?.settle(message));
    this.#worker.on('messageerror', (error) => this.#waiting?.fail(error));
    this.#worker.on('error', (error) =>
      this.#end(new ThreadError('crashed', threadFailure(error, program), { cause: error })),
    );
    this.#worker.on('exit', (code) =>
      this.#end(new ThreadError('crashed', `the ${settings.kind ?? 'thread'} ended with exit code ${code}`)),
    );
    this.ready = this.#answer({ timeoutMs: startMs, signal: undefined }).then((message) => {
      if (message.kind === 'ready') return message.ready;
      void this.terminate();
      throw new ThreadError(
        'crashed',
        message.kind === 'unusable' ? threadFailure(message.reason, program) : 'the thread did not start',
      );
    });
    // The caller that waits for the thread handles the rejection.
    this.ready.catch(() => undefined);
  }

  /** Whether the thread accepts requests. */
  get isAlive(): boolean {
    return !this.#hasEnded;
  }

  /**
   * Sends a request. Rejects with a {@link ThreadError} or with the signal's reason. An abort kills the
   * thread.
   */
  async ask(request: Request, limits: AnswerLimits): Promise<Answer> {
    const answer = this.#answer(limits);
    try {
      this.#worker.postMessage(request);
    } catch (error) {
      this.#waiting?.fail(new ThreadError('threw', `cannot be sent to a thread: ${messageOf(error)}`));
    }
    const message = await answer;
    if (message.kind === 'answer') return message.answer;
    throw new ThreadError(
      'threw',
      message.kind === 'threw' ? message.reason : `expected an answer of the thread, got "${message.kind}"`,
    );
  }

  /** Kills the thread at once. */
  async terminate(): Promise<void> {
    this.#isTerminating = true;
    this.#end(new ThreadError('crashed', 'the thread was ended'));
    this.#worker.ref();
    await this.#worker.terminate();
  }

  async #answer({ timeoutMs, signal }: AnswerLimits): Promise<ThreadMessage<Ready, Answer>> {
    this.#worker.ref();
    let endDeadline: (() => void) | undefined;
    let release: () => void = () => undefined;
    try {
      return await new Promise<ThreadMessage<Ready, Answer>>((resolve, reject) => {
        this.#waiting = { settle: resolve, fail: reject };
        const kill = (reason: unknown) => {
          reject(reason);
          void this.terminate();
        };
        endDeadline = startDeadline(timeoutMs, () =>
          kill(new ThreadError('timed-out', `took longer than ${timeoutMs} ms; the thread was ended`)),
        );
        if (signal) release = onAbort(signal, () => kill(signal.reason));
        if (this.#hasEnded) reject(new ThreadError('crashed', 'the thread had ended'));
      });
    } finally {
      this.#waiting = undefined;
      endDeadline?.();
      release();
      // A thread that is being ended keeps the process alive until it is gone, because somebody may await that.
      if (!this.#isTerminating) this.#worker.unref();
    }
  }

  #end(error: ThreadError): void {
    this.#hasEnded = true;
    this.#waiting?.fail(error);
  }
}

const sourceFlags = ['--conditions=@rlp/source'];

/** Flags that this process was started with, also by its environment. */
const flagsOfProcess = () => [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)];

function workerOf({ program, data, name, heapMb, stackMb, surroundings }: ThreadSettings): Worker {
  const isSource = program.pathname.endsWith('.ts');
  const loaded = isSource ? new URL('../worker-source.mjs', import.meta.url) : program;
  const register = isSource || surroundings === 'none' ? undefined : tsxRegister(flagsOfProcess());
  const before =
    register === undefined ? '' : `await (await import(${JSON.stringify(register)})).register();`;
  // Import from a text: under `--input-type`, which a thread may inherit, Node accepts no file.
  return new Worker(`(async () => { ${before} await import(${JSON.stringify(loaded.href)}); })()`, {
    eval: true,
    workerData: isSource ? { ...data, entry: program.href } : data,
    name,
    ...(isSource && { execArgv: sourceFlags }),
    resourceLimits: {
      ...(heapMb !== undefined && { maxOldGenerationSizeMb: heapMb }),
      ...(stackMb !== undefined && { stackSizeMb: stackMb }),
    },
    ...(surroundings === 'none' && {
      env: {},
      stdout: true,
      stderr: true,
      execArgv: isSource ? sourceFlags : [],
    }),
  });
}
