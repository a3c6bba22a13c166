import { ArgumentError, orAborted, parseOptions } from '@rlp/core';
import type { CodeOutcome, CodeProgram, CodeRunner } from '../code-runner.ts';
import { findSetup, type NativeSetup, runNative } from './native-runner.ts';
import { type PythonRunnerOptions, pythonOptionsSchema, type ResolvedPythonOptions } from './options.ts';
import { PythonThreads } from './wasm-runner.ts';

/** Counts since the runner was created. */
export interface PythonStatistics {
  /** What keeps programs apart from the host: WebAssembly, Linux namespaces, your launcher, or nothing. */
  readonly isolation: 'webassembly' | 'namespaces' | 'launcher' | 'none';
  readonly programs: number;
  /** Programs that did not exit by themselves, by limit. */
  readonly stopped: Readonly<Partial<Record<CodeOutcome['status'], number>>>;
  /** Threads started. Includes replacements for killed threads. */
  readonly threadsStarted: number;
}

/** Runs Python programs. Call it as a function. */
export interface PythonRunner extends CodeRunner, AsyncDisposable {
  getStatistics(): PythonStatistics;
  /** Ends all threads. */
  close(): Promise<void>;
}

/**
 * Runs Python programs and their tests.
 *
 * By default programs run inside WebAssembly. They reach no file, network, process or environment of the host. Each program
 * starts in an interpreter whose whole memory was replaced. Tests run in a second interpreter, which sees values of the program
 * and no objects. Threads of a program run at once when they are started, and its files are read-only.
 *
 * Native interpreters need isolation, see `launcher`. Without it they reject.
 *
 * Rejects with an `ArgumentError` for another language, with a `MissingPeerError` without pyodide, and with a `RewardError` if a
 * native interpreter does not start.
 *
 * @throws OptionsError naming every problem at once.
 */
export function pythonRunner(options: PythonRunnerOptions = {}): PythonRunner {
  const resolved = parseOptions('pythonRunner', pythonOptionsSchema, options);
  const run = resolved.interpreter === 'native' ? nativeRunner(resolved) : undefined;
  const threads = run === undefined ? threadsOf(resolved) : undefined;
  const stopped: Partial<Record<CodeOutcome['status'], number>> = {};
  let programs = 0;
  const call = async (program: CodeProgram, limits: Parameters<CodeRunner>[1]) => {
    const { language, source, input, test } = program;
    if (!/^(python3?|py)$/i.test(language)) {
      throw new ArgumentError(`pythonRunner: expected Python, got ${JSON.stringify(language)}`);
    }
    limits.signal.throwIfAborted();
    const { timeoutMs, signal } = limits;
    const { maxOutputBytes } = resolved;
    const outcome = threads
      ? await threads.run({ source, input, test, timeoutMs, maxOutputBytes }, signal)
      : await run!(program, limits);
    programs += 1;
    if (outcome.status !== 'exited') stopped[outcome.status] = (stopped[outcome.status] ?? 0) + 1;
    return outcome;
  };
  const close = async () => threads?.close();
  const isolation = isolationOf(resolved);
  return Object.assign(call, {
    getStatistics: () => ({
      ...{ isolation, programs, stopped: { ...stopped } },
      threadsStarted: threads?.started ?? 0,
    }),
    close,
    [Symbol.asyncDispose]: close,
  });
}

function isolationOf({ interpreter, launcher }: ResolvedPythonOptions): PythonStatistics['isolation'] {
  if (interpreter === 'webassembly') return 'webassembly';
  return typeof launcher === 'string' ? launcher : 'launcher';
}

function threadsOf({ memoryBytes, threads }: ResolvedPythonOptions): PythonThreads {
  const program = import.meta.url.endsWith('.ts') ? '../python.worker.ts' : './python.worker.js';
  return new PythonThreads(new URL(program, import.meta.url), memoryBytes, threads);
}

function nativeRunner(options: ResolvedPythonOptions): CodeRunner {
  let finding: Promise<NativeSetup> | undefined;
  return async (program, limits) => {
    finding ??= findSetup(options).catch((error: unknown) => {
      finding = undefined;
      throw error;
    });
    return runNative(await orAborted(finding, limits.signal), options, program, limits);
  };
}
