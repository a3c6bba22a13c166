import { type NamedSchema, parseOptions } from '@rlp/core';
import * as z from 'zod';

const limit = z.number().positive();

const timeoutFields = z.strictObject({
  /** Time for ONNX Runtime to load and its execution provider to answer, in milliseconds. Default 60000. */
  startMs: limit.default(60_000),
  /** Time for one request to the engine, such as creating a store or starting a program, in milliseconds. Default 300000. */
  requestMs: limit.default(300_000),
  /** Time for one call of a program's method, in milliseconds. Default Infinity. */
  callMs: limit.default(Number.POSITIVE_INFINITY),
  /** Time for programs to end when the engine closes, in milliseconds. Then the thread is terminated. Default 5000. */
  closeMs: limit.default(5_000),
});

/** Limits in milliseconds, the engine's option `timeouts`. */
export interface EngineTimeouts extends z.input<typeof timeoutFields> {}

/** Schema of {@link EngineTimeouts}. */
export const timeoutsSchema: NamedSchema<EngineTimeouts, z.output<typeof timeoutFields>> = timeoutFields;

const schema = z.strictObject({
  /** `'worker'` computes in a worker thread; `'inline'` blocks the calling thread, for tests and scripts. Default `'worker'`. */
  thread: z.enum(['worker', 'inline']).default('worker'),
  /** Hardware to compute on. If it does not work, the error lists the available providers. Default `'cpu'`. */
  executionProvider: z.enum(['cpu', 'webgpu', 'cuda', 'coreml', 'dml']).default('cpu'),
  /** Threads of one operator. Default: one per core. */
  threads: z.int().min(1).max(1024).optional(),
  /** `'on'` measures every operator, `'runs'` only whole runs at no cost. See {@link Engine.profile}. Default `'off'`. */
  profiling: z.enum(['on', 'runs', 'off']).default('off'),
  /** Limits in milliseconds. Exceeding one is a `TimeoutError`. `Infinity` means no limit. */
  timeouts: timeoutsSchema.prefault({}),
});

/** Options of {@link createEngine}. */
export interface EngineOptions extends z.input<typeof schema> {}

/** {@link EngineOptions} with every default filled in. */
export interface ResolvedEngineOptions extends z.output<typeof schema> {
  readonly threads: number;
}

/**
 * Checks options and fills in defaults.
 *
 * @param cores - Default of `threads`.
 * @throws OptionsError naming every problem.
 */
export function resolveEngineOptions(options: EngineOptions, cores: number): ResolvedEngineOptions {
  const { threads = cores, ...rest } = parseOptions('createEngine', schema, options);
  return { ...rest, threads };
}
