import { timerMs } from '@rlp/core';
import * as z from 'zod';

const notUrl = 'must be a URL: new URL("./worker.ts", import.meta.url)';

/** Module that makes workers. */
const workerModuleSchema = z.strictObject({
  /** Module that makes environment, sampler and tokenizer, such as `new URL('./worker.ts', import.meta.url)`. Required. */
  module: z.union([z.instanceof<new (url: string) => URL>(URL), z.url(notUrl)], notUrl),
  /** Name of its export, a function. Default `'default'`. */
  export: z.string().min(1).default('default'),
});

/** Schema of {@link RolloutWorkersOptions}. */
export const workersSchema = workerModuleSchema.extend({
  /** Workers. Default: the number of cores minus one, at least 1. */
  workers: z.int().positive().optional(),
  /** `'thread'`, or `'process'` for code that may end its process. Default `'thread'`. */
  kind: z.enum(['thread', 'process']).default('thread'),
  /** Times that a job is tried when its worker ends or takes too long. Default 3. */
  attempts: z.int().positive().default(3),
  /** Milliseconds that a job may take before its worker is ended. Default 1 800 000. */
  timeoutMs: timerMs.default(1_800_000),
  /** Milliseconds that a worker may take to load the module. Default 120 000. */
  startMs: timerMs.default(120_000),
});

/** Options of `createRolloutWorkers`. */
export interface RolloutWorkersOptions extends z.input<typeof workersSchema> {}
