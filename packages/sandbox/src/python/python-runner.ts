import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ArgumentError, messageOf, parseOptions, RewardError } from '@rlp/core';
import type * as z from 'zod';
import type { CodeOutcome, CodeProgram, CodeRunner } from '../code-runner.ts';
import { pythonGuard } from './guard.ts';
import { type PythonRunnerOptions, pythonOptionsSchema } from './options.ts';
import { runProcess } from './python-process.ts';

type Options = z.output<typeof pythonOptionsSchema>;
type Limits = Parameters<CodeRunner>[1];

/** Command of the interpreter and its location, determined once. */
interface Setup {
  readonly launcher: readonly string[];
  readonly executable: string;
  /** Maximum number of processes and threads, if they are counted for the program alone. */
  readonly processes: number | null;
}

const unshare = ['unshare', '--user', '--map-current-user', '--net', '--pid', '--fork', '--kill-child'];

/**
 * Runs Python programs, each in a new interpreter with an empty environment.
 *
 * Time, memory and output have limits. A program is killed together with all processes that it started.
 *
 * **This does not stop a determined attacker.** Programs run as your user and can read your files. A guard
 * inside the interpreter blocks network, processes and file changes, but can be bypassed. Namespaces add a
 * barrier if the system permits them (see `launcher`). Use this for programs of a policy that you train. For
 * programs of strangers, use a container as `launcher`. Do not run it as root, because process limits do not
 * apply to root.
 *
 * Needs Unix processes. Tested on Linux. Rejects with an `ArgumentError` for another language. Rejects with a
 * `RewardError` if the interpreter or the launcher does not work.
 *
 * @throws `OptionsError` naming every problem at once.
 */
export function pythonRunner(options: PythonRunnerOptions = {}): CodeRunner {
  const resolved = parseOptions('pythonRunner', pythonOptionsSchema, options);
  let finding: Promise<Setup> | undefined;
  return async (program, limits) => {
    if (!/^(python3?|py)$/i.test(program.language)) {
      throw new ArgumentError(`pythonRunner: expected Python, got ${JSON.stringify(program.language)}`);
    }
    limits.signal.throwIfAborted();
    finding ??= findSetup(resolved).catch((error: unknown) => {
      finding = undefined;
      throw error;
    });
    return run(await finding, resolved, program, limits);
  };
}

async function findSetup(options: Options): Promise<Setup> {
  const executable = await interpreter(options.executable);
  const alone = { launcher: [], executable, processes: null };
  if (typeof options.launcher !== 'string') return tried({ ...alone, launcher: options.launcher }, options);
  if (options.launcher === 'none') return tried(alone, options);
  const apart = { launcher: unshare, executable, processes: 64 };
  if (options.launcher === 'namespaces') return tried(apart, options);
  return tried(apart, options).catch(() => tried(alone, options));
}

/** Path of the interpreter that a name or a shim refers to. */
async function interpreter(name: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(name, ['-c', 'import sys; print(sys.executable)'], {
      timeout: 10_000,
    });
    return stdout.trim();
  } catch (error) {
    throw new RewardError(`pythonRunner: ${JSON.stringify(name)} does not run: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Returns the setup if a program runs with it. */
async function tried(setup: Setup, options: Options): Promise<Setup> {
  const program = { language: 'python', source: 'print(input() * 2)', input: 'ok' };
  const signal = new AbortController().signal;
  const { stdout, stderr } = await run(setup, options, program, { timeoutMs: 10_000, signal }).catch(
    (error) => {
      throw new RewardError(`pythonRunner: programs do not run: ${messageOf(error)}`, { cause: error });
    },
  );
  if (stdout.trim() === 'okok') return setup;
  throw new RewardError(`pythonRunner: programs do not run: ${stderr.trim().slice(-500) || 'no output'}`);
}

function run(
  { launcher, executable, processes }: Setup,
  { packages, memoryBytes, maxOutputBytes }: Options,
  { source, input }: CodeProgram,
  { timeoutMs, signal }: Limits,
): Promise<CodeOutcome> {
  const flags = ['-s', '-B', '-X', 'utf8', ...(packages === 'none' ? ['-S'] : [])];
  const limits = JSON.stringify([memoryBytes, Math.ceil(timeoutMs / 1000) + 1, processes]);
  return runProcess({
    command: [...launcher, executable, ...flags, '-c', pythonGuard, limits],
    // None of our variables, a fixed order of sets, and libraries with one thread.
    env: {
      PATH: '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      PYTHONHASHSEED: '0',
      OMP_NUM_THREADS: '1',
      OPENBLAS_NUM_THREADS: '1',
    },
    input,
    source,
    timeoutMs,
    maxOutputBytes,
    signal,
  });
}
