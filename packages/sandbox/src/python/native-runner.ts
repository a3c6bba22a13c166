import { execFile } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { messageOf, RewardError } from '@rlp/core';
import type { CodeOutcome, CodeProgram, CodeRunner } from '../code-runner.ts';
import { pythonGuard } from './guard.ts';
import type { ResolvedPythonOptions as Options } from './options.ts';
import { type ProcessRequest, runProcess } from './python-process.ts';
import { frameOf, readVerdict } from './sealed/frames.ts';
import { driverSource } from './sealed/image-source.ts';

type Limits = Parameters<CodeRunner>[1];

/** Command of the interpreter and its location, determined once. */
export interface NativeSetup {
  readonly launcher: readonly string[];
  readonly executable: string;
  /** Maximum number of processes and threads, if they are counted for the program alone. */
  readonly processes: number | null;
}

const unshare = ['unshare', '--user', '--map-current-user', '--net', '--pid', '--fork', '--kill-child'];

/** Finds out how programs run, and rejects if the isolation that the options ask for does not work. */
export async function findSetup(options: Options): Promise<NativeSetup> {
  const executable = await interpreter(options.executable);
  const alone = { launcher: [], executable, processes: null };
  if (typeof options.launcher !== 'string') return tried({ ...alone, launcher: options.launcher }, options);
  if (options.launcher === 'none') return tried(alone, options);
  return tried({ launcher: unshare, executable, processes: 64 }, options).catch((error: unknown) => {
    throw new RewardError(
      `pythonRunner: expected \`unshare\` to isolate native programs, but it does not work here (${messageOf(error)}); use interpreter: 'webassembly', pass a container as launcher, or allow programs to read your environment and files with launcher: 'none'`,
      { cause: error },
    );
  });
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
async function tried(setup: NativeSetup, options: Options): Promise<NativeSetup> {
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

/** Runs one program, with its tests in another process. */
export async function runNative(
  setup: NativeSetup,
  options: Options,
  program: CodeProgram,
  limits: Limits,
): Promise<CodeOutcome> {
  const { test, source } = program;
  if (test === undefined) return run(setup, options, program, limits);
  const end = new AbortController();
  const both = { timeoutMs: limits.timeoutMs, signal: AbortSignal.any([limits.signal, end.signal]) };
  const verdict: Buffer[] = [];
  const guest = { language: 'python', source: guestSource, input: program.input };
  const harness = { language: 'python', source: harnessSource, input: '' };
  let toProgram: Duplex;
  const running = run(setup, options, guest, both, (channel) => {
    toProgram = channel;
  }).catch(() => undefined);
  const testing = run(setup, options, harness, limits, (channel, file) => {
    file.on('data', (chunk: Buffer) => verdict.push(chunk));
    for (const stream of [toProgram, channel, file]) stream.on('error', () => undefined);
    channel.write(frameOf({ source, test }));
    toProgram.pipe(channel);
    channel.pipe(toProgram);
  });
  try {
    const outcome = await testing;
    if (outcome.status !== 'exited') return { ...outcome, test: 'failed' };
    const { passed, reason } = readVerdict(verdict);
    if (passed) return { ...outcome, exitCode: 0, test: 'passed' };
    return { ...outcome, exitCode: 1, stderr: `${outcome.stderr}${reason}`, test: 'failed' };
  } finally {
    end.abort();
    await running;
  }
}

const guestSource = `${driverSource}
_IN, _OUT = 4, 4
try:
    while True: _serve()
except EOFError: pass
`;

const harnessSource = `${driverSource}
_IN, _OUT, _VERDICT = 4, 4, 5
_verdict()
`;

function run(
  { launcher, executable, processes }: NativeSetup,
  { packages, memoryBytes, maxOutputBytes }: Options,
  { source, input }: CodeProgram,
  { timeoutMs, signal }: Limits,
  connect?: ProcessRequest['connect'],
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
    connect,
  });
}
