import { importPeer, orAborted } from '@rlp/core';
import type { CodeOutcome } from '../code-runner.ts';
import { ThreadError } from '../threads/thread-error.ts';
import { ThreadPool } from '../threads/thread-pool.ts';
import type { Prepared } from './sealed/interpreter.ts';
import type { PythonJob } from './sealed/job.ts';

const startMs = 120_000;
/** Time for a thread to stop a program by itself before it is killed, in milliseconds. */
const graceMs = 300;
/** Programs recurse into the interpreter's own functions, for example when a nested list is printed. */
const stackMb = 16;

/**
 * Memory and code of the first interpreter of this process, before any program ran in it. They depend on no option, so
 * interpreters of all runners start from them.
 */
let first: Prepared | undefined;

/** Threads with Python interpreters. Later threads start from what the first prepared, in a fraction of its time. */
export class PythonThreads {
  readonly #data: { memoryBytes: number; prepared?: Prepared | undefined };
  readonly #pool: ThreadPool<PythonJob, CodeOutcome, Prepared>;
  #opening: Promise<void> | undefined;

  constructor(program: URL, memoryBytes: number, threads: number) {
    this.#data = { memoryBytes };
    const settings = {
      program,
      data: this.#data,
      name: 'python',
      startMs,
      stackMb,
      surroundings: 'none',
    } as const;
    this.#pool = new ThreadPool(settings, threads);
  }

  /** Threads started so far. */
  get started(): number {
    return this.#pool.started;
  }

  /** Runs a program. Rejects with the signal's reason, or if no interpreter starts. */
  async run(job: PythonJob, signal: AbortSignal): Promise<CodeOutcome> {
    this.#opening ??= this.#open();
    await orAborted(this.#opening, signal);
    try {
      return await this.#pool.ask(job, { timeoutMs: job.timeoutMs + graceMs, signal });
    } catch (error) {
      if (!(error instanceof ThreadError) || error.failure === 'threw') throw error;
      // An interpreter has started before, so what ends one now is the program.
      const ending =
        error.failure === 'timed-out'
          ? ({ status: 'timed-out', exitCode: null, stdout: '', stderr: '' } as const)
          : ({ status: 'exited', exitCode: 134, stdout: '', stderr: `${error.message}\n` } as const);
      return job.test === undefined ? ending : { ...ending, test: 'failed' };
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #open(): Promise<void> {
    try {
      await importPeer('pythonRunner', 'pyodide', () => import('pyodide'));
      this.#data.prepared = first;
      this.#data.prepared = await this.#pool.open();
      first ??= this.#data.prepared;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
