import * as z from 'zod';

const mebibyte = 1_048_576;

/** Schema of the time that a call may take. */
export const callMs = z.number().positive().max(86_400_000, 'must be a day at most');

/** Schema of {@link SandboxOptions}. */
export const sandboxOptionsSchema = z.strictObject({
  threads: z.int().positive().max(64).default(1),
  timeoutMs: callMs.default(1000),
  memoryBytes: z
    .int()
    .min(20 * mebibyte, 'must be at least 20 MiB: the engine itself begins with 16')
    .max(2048 * mebibyte, 'must be at most 2 GiB')
    .default(64 * mebibyte),
  maxOutputCharacters: z.int().positive().max(100_000_000).default(1_000_000),
  reuse: z.enum(['engine', 'nothing']).default('engine'),
});

/** Limits of a sandbox. */
export interface SandboxOptions {
  /** Threads: how many calls run at once; others wait. Started when needed. Default 1. */
  readonly threads?: number | undefined;
  /** Milliseconds that a call may run. Default 1000. */
  readonly timeoutMs?: number | undefined;
  /** Memory of the engine, its own 16 MiB included. Default 64 MiB. */
  readonly memoryBytes?: number | undefined;
  /** Characters that a call may return as JSON and print, together. Default 1 000 000. */
  readonly maxOutputCharacters?: number | undefined;
  /**
   * `'engine'`: calls share one engine, each with a fresh global object. A call over a limit discards the engine.
   * `'nothing'`: every call starts a new engine, which also contains faults of the engine. Default `'engine'`.
   */
  readonly reuse?: 'engine' | 'nothing' | undefined;
}
