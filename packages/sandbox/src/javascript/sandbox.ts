import { ArgumentError, messageOf, parseOptions } from '@rlp/core';
import type * as z from 'zod';
import { ThreadError } from '../threads/thread-error.ts';
import { ThreadPool } from '../threads/thread-pool.ts';
import { callMs, type SandboxOptions, sandboxOptionsSchema } from './options.ts';
import type { Job, JobReport, JobRequest, SandboxFailureCause } from './protocol.ts';

/** Time for a thread to stop a job by itself before it is killed, in milliseconds. */
const graceMs = 500;
const startMs = 60_000;
/** Most levels of a result. */
const deepest = 1000;

/** Options of one call. */
export interface SandboxCallOptions {
  /** Maximum duration of the call in milliseconds. Default: the sandbox's `timeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** Ends the call with its reason, whatever the code does. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Result of a call. */
export type SandboxOutcome =
  | { readonly kind: 'value'; readonly value: unknown; readonly printed: string }
  | {
      readonly kind: 'failure';
      readonly cause: SandboxFailureCause;
      /** Description of the failure. It may contain text from the code. */
      readonly message: string;
      readonly printed: string;
    };

/** Counts since the sandbox was created. */
export interface SandboxStatistics {
  readonly calls: number;
  /** Calls without a value, by cause. */
  readonly failures: Readonly<Partial<Record<SandboxFailureCause, number>>>;
  /** Threads started. Includes replacements for killed threads. */
  readonly threadsStarted: number;
}

/** Runs untrusted code. */
export class Sandbox implements AsyncDisposable {
  readonly #options: z.output<typeof sandboxOptionsSchema>;
  readonly #pool: ThreadPool<JobRequest, JobReport>;
  readonly #failures: Partial<Record<SandboxFailureCause, number>> = {};
  #calls = 0;
  #isClosed = false;

  /** @throws OptionsError naming every problem at once. */
  constructor(program: URL, options: SandboxOptions) {
    this.#options = parseOptions('createSandbox', sandboxOptionsSchema, options);
    const { memoryBytes, reuse, threads } = this.#options;
    const data = { memoryBytes, reuse };
    this.#pool = new ThreadPool({ program, data, name: 'sandbox', startMs, surroundings: 'none' }, threads);
  }

  /**
   * Calls a function and awaits its promise.
   *
   * `code` is an expression such as `(a, b) => a + b`, or a module with a default export. Arguments and
   * result travel as JSON. The code sees the JavaScript language and `console`.
   *
   * Resolves whatever the code does. Rejects with the signal's reason. Rejects with an `ArgumentError` if the
   * arguments are not JSON or the sandbox is closed, and with an `OptionsError` for an invalid `timeoutMs`.
   */
  async call(
    code: string,
    args: readonly unknown[],
    options: SandboxCallOptions = {},
  ): Promise<SandboxOutcome> {
    const { result, stdout, stderr } = await this.execute(
      { kind: 'call', code, args: textOf(args) },
      options,
    );
    const printed = stdout + stderr;
    if (result.kind === 'failure') return { ...result, printed };
    if (nestsDeeper(result.json, deepest)) {
      this.#count('not-json');
      const message = `its result is nested more than ${deepest} levels deep`;
      return { kind: 'failure', cause: 'not-json', message, printed };
    }
    return { kind: 'value', value: JSON.parse(result.json, withoutPrototypes), printed };
  }

  /** Runs a job and returns its full report. */
  async execute(job: Job, { timeoutMs, signal }: SandboxCallOptions = {}): Promise<JobReport> {
    this.#requireOpen();
    signal?.throwIfAborted();
    const limits = {
      timeoutMs: parseOptions('Sandbox: timeoutMs', callMs, timeoutMs ?? this.#options.timeoutMs),
      maxOutputCharacters: this.#options.maxOutputCharacters,
    };
    const size = job.code.length + besides(job).length;
    const report =
      size > this.#options.memoryBytes / 16
        ? tooLarge(size)
        : await this.#executed({ job, ...limits }, signal);
    this.#calls += 1;
    if (report.result.kind === 'failure') this.#count(report.result.cause);
    return report;
  }

  #count(cause: SandboxFailureCause): void {
    this.#failures[cause] = (this.#failures[cause] ?? 0) + 1;
  }

  /** Returns counts since the sandbox was created. */
  getStatistics(): SandboxStatistics {
    return {
      calls: this.#calls,
      failures: { ...this.#failures },
      threadsStarted: this.#pool.started,
    };
  }

  /** Ends all threads. Running calls report `crashed`, and new calls are refused. Can be called again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.close();
  }

  /** {@link Sandbox.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #executed(request: JobRequest, signal: AbortSignal | undefined): Promise<JobReport> {
    const { timeoutMs } = request;
    try {
      return await this.#pool.ask(request, { timeoutMs: timeoutMs + graceMs, signal });
    } catch (error) {
      if (!(error instanceof ThreadError)) throw error;
      const isLate = error.failure === 'timed-out';
      const message = isLate ? `it ran for more than ${timeoutMs} ms and had to be killed` : error.message;
      const result = { kind: 'failure', cause: isLate ? 'timed-out' : 'crashed', message } as const;
      return { result, stdout: '', stderr: '' };
    }
  }

  #requireOpen(): void {
    if (!this.#isClosed) return;
    throw new ArgumentError('Sandbox: expected a sandbox that is open, got a closed one; make a new one');
  }
}

/** Text of a job besides its code. */
function besides(job: Job): string {
  if (job.kind === 'call') return job.args;
  return job.kind === 'program' ? job.input : job.test;
}

function textOf(args: readonly unknown[]): string {
  try {
    return JSON.stringify(args);
  } catch (error) {
    throw new ArgumentError(`Sandbox: expected arguments that are JSON data: ${messageOf(error)}`);
  }
}

function tooLarge(characters: number): JobReport {
  const message = `code and arguments have ${characters} characters, too many for the sandbox's memory`;
  return { result: { kind: 'failure', cause: 'out-of-memory', message }, stdout: '', stderr: '' };
}

/** Whether JSON is nested deeper than a number of levels. Reading it would take as much stack. */
function nestsDeeper(json: string, levels: number): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') isText = !isText;
    else if (isText && character === '\\') at += 1;
    else if (!isText && (character === '[' || character === '{')) depth += 1;
    else if (!isText && (character === ']' || character === '}')) depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

/** Drops keys that would change the prototype of a copy. */
function withoutPrototypes(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
