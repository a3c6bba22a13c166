import { lastCodeBlock } from '@rlp/answers';
import {
  ArgumentError,
  callback,
  described,
  parseOptions,
  RewardError,
  type RewardFunction,
  requireFields,
  timerMs,
} from '@rlp/core';
import type { CodeOutcome, CodeProgram, CodeRunner } from '@rlp/sandbox';
import pLimit from 'p-limit';
import * as z from 'zod';
import { signalOf } from '../../shared/signal-of.ts';
import { withReader } from '../answers/reference.ts';

/**
 * A test of a program: text in, text out; or code that calls the program's functions and fails by throwing.
 *
 * Assertions run apart from the program. They see its functions and classes by name, and its results as copies.
 */
export type CodeTest =
  | { readonly kind: 'output'; readonly input: string; readonly output: string }
  | { readonly kind: 'assertion'; readonly source: string };

const testsSchema = z
  .array(
    z.union([
      z.object({ kind: z.literal('output'), input: z.string(), output: z.string() }),
      z.object({ kind: z.literal('assertion'), source: z.string() }),
    ]),
  )
  .min(1);

const schema = z.strictObject({
  /** Sandbox that runs the programs. Required. */
  runner: callback<CodeRunner>(
    'a function that runs programs, such as pythonRunner() or javascriptRunner(sandbox)',
  ),
  /** Language of the programs. Required. */
  language: z.string().min(1),
  /** 1 only if every test passes, stopping at the first failure, or the share that passes. Default `'all'`. */
  grading: z.enum(['all', 'share']).default('all'),
  /** Milliseconds that one test may run. Default 10 000. */
  timeoutMs: timerMs.default(10_000),
  /** Milliseconds that the tests of one response may run, added up. Tests beyond it fail. Default 60 000. */
  responseTimeoutMs: timerMs.default(60_000),
  /** Tests of this reward in progress at once. Default 4. */
  concurrency: z.int().positive().default(4),
});

/** Options of {@link codeTests}. */
export interface CodeTestsOptions<Metadata> extends z.input<typeof schema> {
  /** Tests of a task, from its metadata. Required. */
  readonly tests: (metadata: Metadata) => readonly CodeTest[];
  /** Program in a response. Default: the last fenced block of the language, {@link lastCodeBlock}. */
  readonly extract?: ((response: string) => string | undefined) | undefined;
}

/**
 * Whether the program in a response passes its task's tests in a sandbox. No program: 0.
 *
 * An `output` test passes if the program exits with 0 and prints the output. White space at line ends and around the text does
 * not count. An `assertion` test passes if the runner says that its code ran to the end. The program cannot say so itself: its
 * exit code counts for nothing there.
 *
 * If the sandbox fails or a task has no tests, the function rejects, and the trajectory is unscorable. A runner that does not
 * judge tests apart from the program rejects as well.
 */
export function codeTests<Metadata>(options: CodeTestsOptions<Metadata>): RewardFunction<Metadata> {
  const { tests, extract, ...rest } = withReader('codeTests', options, 'tests');
  const parsed = parseOptions('codeTests', schema, rest);
  const { runner, language, grading, timeoutMs, responseTimeoutMs, concurrency } = parsed;
  const limit = pLimit(concurrency);
  const read = extract ?? ((response: string) => lastCodeBlock(response, language));

  return async (trajectory, context) => {
    const signal = signalOf('codeTests', trajectory, context);
    const { task, response } = trajectory;
    const given: unknown = tests(task.metadata);
    const { data: wanted } = testsSchema.safeParse(given);
    if (wanted === undefined)
      throw new ArgumentError(
        `codeTests: task "${task.id}" must have at least one test, each { kind: 'output', input, output } or { kind: 'assertion', source }, got ${described(given)}`,
      );
    const source = read(response);
    if (source === undefined) return 0;
    let leftMs = responseTimeoutMs;
    const run = async (program: Omit<CodeProgram, 'language'>) => {
      const begun = performance.now();
      try {
        const limits = { timeoutMs: Math.min(timeoutMs, leftMs), signal };
        const outcome = await runner({ language, ...program }, limits);
        return requireFields('codeTests: the outcome of the runner', { status: 'text' }, outcome);
      } finally {
        leftMs -= performance.now() - begun;
      }
    };
    let isDecided = false;
    const results = await Promise.all(
      wanted.map((test) =>
        limit(async () => {
          if (isDecided || leftMs <= 0) return false;
          signal.throwIfAborted();
          const passed = await passes(test, source, run).catch((error: unknown) => {
            isDecided = true;
            throw error;
          });
          isDecided ||= !passed && grading === 'all';
          return passed;
        }),
      ),
    );
    const passed = results.filter(Boolean).length;
    return grading === 'share' ? passed / wanted.length : passed === wanted.length ? 1 : 0;
  };
}

/** Whether a program passes one test. */
async function passes(
  test: CodeTest,
  source: string,
  run: (program: Omit<CodeProgram, 'language'>) => Promise<CodeOutcome>,
): Promise<boolean> {
  if (test.kind === 'output') {
    const { status, exitCode, stdout } = await run({ source, input: test.input });
    return status === 'exited' && exitCode === 0 && withoutLineEnds(stdout) === withoutLineEnds(test.output);
  }
  const { test: verdict } = await run({ source, input: '', test: test.source });
  if (verdict !== undefined) return verdict === 'passed';
  throw new RewardError(
    'codeTests: expected a runner that judges assertions apart from the program, got an outcome without `test`; use javascriptRunner, pythonRunner or tests by output',
  );
}

function withoutLineEnds(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}
