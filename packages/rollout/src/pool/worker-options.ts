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
  /** Number of workers. Default: the number of cores minus one, at least 1. */
  workers: z.int().positive().optional(),
  /** Where workers run. `'process'` is for code that may end its process. Default `'thread'`. */
  kind: z.enum(['thread', 'process']).default('thread'),
  /** Maximum attempts of a job whose worker ends or takes too long. Default 3. */
  attempts: z.int().positive().default(3),
  /** Maximum duration of a job, in milliseconds. Its worker is then ended. Default 1800000 (30 minutes). */
  timeoutMs: timerMs.default(1_800_000),
  /** Maximum time that a worker takes to load the module, in milliseconds. Default 120000 (2 minutes). */
  startMs: timerMs.default(120_000),
});

/** Options of `createRolloutWorkers`. */
export interface RolloutWorkersOptions extends z.input<typeof workersSchema> {}
