/** A program to run: source text, and what it reads. */
export interface CodeProgram {
  /** Such as `javascript` or `python`. */
  readonly language: string;
  readonly source: string;
  /** What it reads from standard input. */
  readonly input: string;
}

/** Result of a program. */
export interface CodeOutcome {
  /** `exited`: by itself, with an exit code. The others: stopped by a limit of the sandbox. */
  readonly status: 'exited' | 'timed-out' | 'out-of-memory' | 'output-too-long';
  /** 0 for success; other codes for an exception or a failed assertion. `null` unless it exited. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs untrusted programs in a sandbox.
 *
 * Resolves with the outcome, whatever the program did. Rejects only if the sandbox itself is broken, or when `signal` aborts.
 */
export type CodeRunner = (
  program: CodeProgram,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<CodeOutcome>;
