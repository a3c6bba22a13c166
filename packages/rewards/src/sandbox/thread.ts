import { Worker } from 'node:worker_threads';
import { onAbort } from '@rlp/core';
import { threadFailure } from '../thread-failure.ts';
import type { FromThread, JobReport, JobRequest, SandboxFailureCause, ThreadData } from './protocol.ts';

/** Where a sandbox's thread starts: built code, or TypeScript with the loader that it needs. */
export interface ThreadEntry {
  readonly entry: URL;
  readonly sourceBootstrap: URL;
}

/** Milliseconds that a thread gets to stop a job by itself, before it is ended. */
const graceMs = 250;
const startMs = 60_000;

/** A thread with an engine. It is ended, not asked, when a job does not stop. */
export class SandboxThread {
  readonly #worker: Worker;
  #isReady = false;
  #ended: JobReport | undefined;
  #wake: () => void = () => undefined;
  #report: JobReport | undefined;

  constructor({ entry, sourceBootstrap }: ThreadEntry, options: Omit<ThreadData, 'entry'>) {
    const fromSource = entry.pathname.endsWith('.ts');
    const workerData: ThreadData = { entry: entry.href, ...options };
    const program = fromSource ? sourceBootstrap : entry;
    this.#worker = new Worker(program, {
      workerData,
      name: 'rlp-sandbox',
      env: {},
      // What the engine prints when it breaks is nobody's output.
      stdout: true,
      stderr: true,
      execArgv: fromSource ? ['--conditions=@rlp/source'] : [],
    });
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'ready') this.#isReady = true;
      else this.#report = message.report;
      this.#wake();
    });
    this.#worker.on('error', (error) =>
      this.#end('crashed', `the thread failed: ${threadFailure(error, program)}`),
    );
    this.#worker.on('exit', () => this.#end('crashed', 'the thread ended'));
    this.#worker.unref();
  }

  /** Whether it can take another job. */
  get isAlive(): boolean {
    return this.#ended === undefined;
  }

  /** Does one job; there must be no other. Rejects only with the signal's reason, once aborted. */
  async execute(request: JobRequest, signal: AbortSignal | undefined): Promise<JobReport> {
    this.#worker.ref();
    const release = signal && onAbort(signal, () => this.terminate('timed-out', 'aborted'));
    try {
      await this.#until(() => this.#isReady, startMs, 'the sandbox did not start');
      if (this.#ended === undefined) {
        this.#isReady = false;
        this.#report = undefined;
        this.#worker.postMessage(request);
        const { timeoutMs } = request;
        await this.#until(
          () => this.#report !== undefined,
          timeoutMs + graceMs,
          `it ran for more than ${timeoutMs} ms and had to be killed`,
        );
      }
      signal?.throwIfAborted();
      return this.#report ?? this.#ended!;
    } finally {
      release?.();
      this.#worker.unref();
    }
  }

  /** Ends the thread, whatever it does. */
  terminate(cause: SandboxFailureCause, message: string): Promise<number> {
    this.#end(cause, message);
    return this.#worker.terminate();
  }

  #end(cause: SandboxFailureCause, message: string): void {
    this.#ended ??= { result: { kind: 'failure', cause, message }, stdout: '', stderr: '' };
    this.#wake();
  }

  /** Waits until `isDone`, or the thread ended; ends it when that takes longer than the limit. */
  async #until(isDone: () => boolean, limitMs: number, message: string): Promise<void> {
    const timer = setTimeout(() => void this.terminate('timed-out', message), limitMs);
    try {
      while (!isDone() && this.#ended === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }
}
