/** A program to run: source text and standard input. */
export interface CodeProgram {
  /** Name of the language, such as `javascript` or `python`. */
  readonly language: string;
  readonly source: string;
  /** Text of standard input. */
  readonly input: string;
  /**
   * Code of tests that call the program's functions. It runs apart from the program, which it sees only through values.
   * Default: no tests.
   */
  readonly test?: string | undefined;
}

/** Result of a program. */
export interface CodeOutcome {
  /** `exited`: the program ended by itself. The other values name the limit that stopped it. */
  readonly status: 'exited' | 'timed-out' | 'out-of-memory' | 'output-too-long';
  /** 0 for success. Other codes mean an exception or a failed assertion. `null` unless it exited. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Verdict of the tests. Only the harness can say `'passed'`, after the last line of the tests. Absent if the program came
   * without tests.
   */
  readonly test?: 'passed' | 'failed' | undefined;
}

/**
 * Runs untrusted programs in a sandbox.
 *
 * Resolves with the outcome, whatever the program does. Rejects if the sandbox itself is broken, or when
 * `signal` aborts.
 */
export type CodeRunner = (
  program: CodeProgram,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<CodeOutcome>;
