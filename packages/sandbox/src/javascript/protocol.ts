/**
 * Reason that code in a sandbox gave no value.
 *
 * - `syntax`: the code does not parse.
 * - `not-a-function`: its default export is not a function.
 * - `threw`: it threw, or its promise rejected.
 * - `not-json`: its result cannot be written as JSON.
 * - `unsettled`: its promise can never settle, because nothing is left to run.
 * - `timed-out`, `out-of-memory`, `stack-overflow`, `output-too-long`: it exceeded a limit.
 * - `crashed`: the engine itself broke.
 */
export type SandboxFailureCause =
  | 'syntax'
  | 'not-a-function'
  | 'threw'
  | 'not-json'
  | 'unsettled'
  | 'timed-out'
  | 'out-of-memory'
  | 'stack-overflow'
  | 'output-too-long'
  | 'crashed';

/** A call of the function in `code`, a program with standard input, or a program with tests of its functions. */
export type Job =
  | { readonly kind: 'call'; readonly code: string; readonly args: string }
  | { readonly kind: 'program'; readonly code: string; readonly input: string }
  | { readonly kind: 'tests'; readonly code: string; readonly test: string };

/** A job with its limits, as it is sent to a thread. */
export interface JobRequest {
  readonly job: Job;
  readonly timeoutMs: number;
  readonly maxOutputCharacters: number;
}

/** Result of a job. */
export interface JobReport {
  readonly result:
    | { readonly kind: 'value'; readonly json: string }
    | { readonly kind: 'failure'; readonly cause: SandboxFailureCause; readonly message: string };
  readonly stdout: string;
  readonly stderr: string;
}

/** Data that a thread starts with. */
export interface ThreadData {
  readonly memoryBytes: number;
  readonly reuse: 'engine' | 'nothing';
}
