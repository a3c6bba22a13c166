import { ArgumentError, described } from '@rlp/core';
import type { CodeOutcome, CodeRunner } from '../code-runner.ts';
import type { JobReport } from './protocol.ts';
import type { Sandbox } from './sandbox.ts';

/** Exit codes of Node: an exception, a promise that never settles, a broken engine. */
const exitCodes = { exception: 1, unsettled: 13, crashed: 134 } as const;

/**
 * Runs JavaScript programs of `codeTests` in a sandbox.
 *
 * Tests run in a separate engine. They find functions, classes and variables of the program by name, or in `program`, and
 * what they get are copies of values, and objects that forward to the program.
 *
 * Programs have `console`, `print`, `readline()`, `require('fs').readFileSync(0)`, `process.stdin.on`,
 * `process.stdout.write`, `assert` and timers. Timers do not wait: time passes when nothing else is left to do. They have no files,
 * network or exit. If the last statement gives a promise, it is awaited, and a rejection fails the program. Tests may `await`.
 *
 * Rejects with an `ArgumentError` for another language. `pythonRunner` of `@rlp/sandbox/python` runs Python.
 */
export function javascriptRunner(sandbox: Sandbox): CodeRunner {
  if (typeof (sandbox as Partial<Sandbox> | undefined)?.execute !== 'function') {
    throw new ArgumentError(
      `javascriptRunner: expected a sandbox, got ${described(sandbox)}; pass the result of createSandbox()`,
    );
  }
  return async ({ language, source, input, test }, limits) => {
    if (!/^(javascript|js)$/i.test(language)) {
      throw new ArgumentError(
        `javascriptRunner: expected JavaScript, got ${JSON.stringify(language)}; pass a runner for that language`,
      );
    }
    if (test === undefined) {
      return outcomeOf(await sandbox.execute({ kind: 'program', code: source, input }, limits));
    }
    const report = await sandbox.execute({ kind: 'tests', code: source, test }, limits);
    return { ...outcomeOf(report), test: report.result.kind === 'value' ? 'passed' : 'failed' };
  };
}

function outcomeOf({ result, stdout, stderr }: JobReport): CodeOutcome {
  if (result.kind === 'value') return { status: 'exited', exitCode: 0, stdout, stderr };
  const { cause, message } = result;
  if (cause === 'timed-out' || cause === 'out-of-memory' || cause === 'output-too-long') {
    return { status: cause, exitCode: null, stdout, stderr };
  }
  const exitCode = cause === 'unsettled' || cause === 'crashed' ? exitCodes[cause] : exitCodes.exception;
  return { status: 'exited', exitCode, stdout, stderr: `${stderr}${message}\n` };
}
