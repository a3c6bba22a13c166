import * as z from 'zod';

const mebibyte = 1_048_576;

/** Schema of the time that a call may take. */
export const callMs = z.number().positive().max(86_400_000, 'must be a day at most');

/** Schema of {@link SandboxOptions}. */
export const sandboxOptionsSchema = z.strictObject({
  /** Number of threads, so of calls that run at once. They start on first use. Default 1. */
  threads: z.int().positive().max(64).default(1),
  /** Maximum duration of a call in milliseconds. Default 1000. */
  timeoutMs: callMs.default(1000),
  /** Memory of the engine in bytes, including its own 16 MiB. Default 64 MiB. */
  memoryBytes: z
    .int()
    .min(20 * mebibyte, 'must be at least 20 MiB: the engine itself begins with 16')
    .max(2048 * mebibyte, 'must be at most 2 GiB')
    .default(64 * mebibyte),
  /** Maximum characters of a call's result, as JSON, and its printed text together. Default 1000000. */
  maxOutputCharacters: z.int().positive().max(100_000_000).default(1_000_000),
  /**
   * Whether calls share an engine. Default `'engine'`.
   *
   * - `'engine'`: they do, each with a fresh global object. A call that exceeds a limit discards the engine.
   * - `'nothing'`: every call starts a new engine, which also contains faults of the engine.
   */
  reuse: z.enum(['engine', 'nothing']).default('engine'),
});

/** Limits of a sandbox. */
export interface SandboxOptions extends z.input<typeof sandboxOptionsSchema> {}
