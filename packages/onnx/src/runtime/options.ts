import { parseOptions } from '@rlp/core';
import * as z from 'zod';

import type { EngineOptions } from './protocol.ts';

const limit = z.number().positive();

const schema = z.strictObject({
  thread: z.enum(['worker', 'inline']).default('worker'),
  executionProvider: z.enum(['cpu', 'webgpu', 'cuda', 'coreml', 'dml']).default('cpu'),
  threads: z.int().min(1).max(1024).optional(),
  profiling: z.enum(['on', 'runs', 'off']).default('off'),
  timeouts: z
    .strictObject({
      startMs: limit.default(60_000),
      requestMs: limit.default(300_000),
      callMs: limit.default(Number.POSITIVE_INFINITY),
      closeMs: limit.default(5_000),
    })
    .prefault({}),
});

/** What the engine reads: every field present, `threads` settled. */
export interface ResolvedEngineOptions
  extends Required<Pick<EngineOptions, 'thread' | 'executionProvider' | 'threads' | 'profiling'>> {
  readonly timeouts: Required<NonNullable<EngineOptions['timeouts']>>;
}

/**
 * Checks options and fills in defaults.
 *
 * @param cores - What `threads` is when the caller does not say.
 * @throws OptionsError naming every problem.
 */
export function resolveEngineOptions(options: EngineOptions, cores: number): ResolvedEngineOptions {
  const { threads = cores, ...rest } = parseOptions('createEngine', schema, options);
  return { ...rest, threads };
}
