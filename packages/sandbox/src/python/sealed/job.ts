import type { CodeOutcome } from '../../code-runner.ts';
import { frameOf, joined, readVerdict } from './frames.ts';
import type { Interpreter, InterpreterLoader } from './interpreter.ts';
import { Stop } from './stop.ts';

/** A program to run, with tests if they judge it. Sent to a thread. */
export interface PythonJob {
  readonly source: string;
  readonly input: string;
  readonly test: string | undefined;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Runs programs in one thread, with an interpreter for programs and, once tests come, another for tests.
 *
 * The interpreters share nothing. Requests between them are bytes that pass through here.
 */
export class PythonWorlds {
  readonly #loader: InterpreterLoader;
  readonly #guest: Interpreter;
  #harness: Interpreter | undefined;

  constructor(loader: InterpreterLoader, guest: Interpreter) {
    this.#loader = loader;
    this.#guest = guest;
  }

  /** Runs one program in worlds that know nothing of earlier ones. */
  async run(job: PythonJob): Promise<CodeOutcome> {
    if (job.test !== undefined) this.#harness ??= await this.#loader.load();
    const limits = {
      input: encoder.encode(job.input),
      deadline: performance.now() + job.timeoutMs,
      maxOutputBytes: job.maxOutputBytes,
    };
    return job.test === undefined || this.#harness === undefined
      ? this.#runProgram(job, limits)
      : this.#runTests(job, this.#harness, limits);
  }

  #runProgram({ source }: PythonJob, limits: Limits): CodeOutcome {
    const guest = this.#guest;
    guest.restore({ ...limits, ask: () => new Uint8Array() });
    try {
      guest.run('_run()', frameOf({ source }));
      return outcome(guest, new Stop('crashed', 'the interpreter did not end'));
    } catch (error) {
      return outcome(guest, error);
    }
  }

  #runTests({ source, test }: PythonJob, harness: Interpreter, limits: Limits): CodeOutcome {
    const guest = this.#guest;
    let ended: string | undefined;
    const askProgram = (request: Uint8Array): Uint8Array => {
      if (ended === undefined) {
        try {
          return guest.run('_serve()', request);
        } catch (error) {
          if (!(error instanceof Stop) || error.stop === 'timed-out') throw error;
          ended = error.message;
        }
      }
      return frameOf({ ended });
    };
    harness.restore({ ...limits, ask: askProgram });
    guest.restore({ ...limits, ask: (request) => harness.runWithin('_serve_tests()', request) });
    try {
      harness.run('_verdict()', frameOf({ source, test }));
    } catch (error) {
      return { ...outcome(harness, error), test: 'failed' };
    }
    return judged(harness, guest, ended);
  }
}

interface Limits {
  readonly input: Uint8Array;
  readonly deadline: number;
  readonly maxOutputBytes: number;
}

/** Outcome of tests that came to their end. */
function judged(harness: Interpreter, guest: Interpreter, ended: string | undefined): CodeOutcome {
  const { stdout, stderr } = printed(harness);
  const verdict = readVerdict(harness.verdict);
  if (verdict.passed && ended === undefined) {
    return { status: 'exited', exitCode: 0, stdout, stderr, test: 'passed' };
  }
  const lacksMemory = guest.lacksMemory || harness.lacksMemory;
  return {
    status: lacksMemory ? 'out-of-memory' : 'exited',
    exitCode: lacksMemory ? null : 1,
    stdout,
    stderr: `${stderr}${printed(guest).stderr}${verdict.reason || (ended ?? '')}`,
    test: 'failed',
  };
}

function printed({ printed: { stdout, stderr } }: Interpreter) {
  return { stdout: decoder.decode(joined(stdout)), stderr: decoder.decode(joined(stderr)) };
}

/** Outcome of code that was left by an exception. */
function outcome(interpreter: Interpreter, error: unknown): CodeOutcome {
  if (!(error instanceof Stop)) throw error;
  const { stdout, stderr } = printed(interpreter);
  if (error.stop === 'timed-out' || error.stop === 'output-too-long') {
    return { status: error.stop, exitCode: null, stdout, stderr };
  }
  const isExit = error.stop === 'exited';
  if (interpreter.lacksMemory && !(isExit && error.exitCode === 0)) {
    return { status: 'out-of-memory', exitCode: null, stdout, stderr };
  }
  const crashCode = 134;
  return isExit
    ? { status: 'exited', exitCode: error.exitCode, stdout, stderr }
    : { status: 'exited', exitCode: crashCode, stdout, stderr: `${stderr}${error.message}\n` };
}
