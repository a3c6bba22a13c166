import * as z from 'zod';
import { timerMs } from '../shared/schemas.ts';
import type { RewardScope } from './protocol.ts';

const notUrl = 'must be a URL: new URL("./rewards.ts", import.meta.url)';

/** Schema of {@link RewardWorkersOptions}. */
export const workersSchema = z.strictObject({
  module: z.union([z.instanceof(URL), z.url(notUrl)], notUrl),
  export: z.string().min(1).default('default'),
  workers: z.int().positive().optional(),
  batchSize: z.int().positive().default(128),
  timeoutMs: timerMs.default(30_000),
  startMs: timerMs.default(30_000),
  heapMb: z.number().positive().optional(),
  scope: z.enum(['episode', 'group']).optional(),
  tokens: z.enum(['sent', 'left-out']).optional(),
});

/** What is scored in threads, and how. Only `module` is required. */
export interface RewardWorkersOptions {
  /** The module that scores: `new URL('./rewards.ts', import.meta.url)`. Each thread loads its own. */
  readonly module: URL | string;
  /** Its export: a reward function, a `RewardComputer`, or a processor; a promise of one is awaited. Default `'default'`. */
  readonly export?: string | undefined;
  /** Threads at most, which is also how many requests are under way at once. Default: the cores but one, at least 1. */
  readonly workers?: number | undefined;
  /** Episodes that a thread gets at a time, at most. Default 128. */
  readonly batchSize?: number | undefined;
  /**
   * Milliseconds that a thread may take for what it was given, before it is ended by force; a reward function that waits is
   * given up after four fifths of it. Default 30 000.
   */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that a thread may take to load the module. Default 30 000. */
  readonly startMs?: number | undefined;
  /** Heap of each thread in MB. A thread that needs more ends, the process goes on. Default: Node's limit. */
  readonly heapMb?: number | undefined;
  /**
   * What is judged by itself: `'episode'` lets a group be parted, and costs only the guilty episode where one hangs; `'group'` keeps
   * groups together, as ranks and standardised rewards need. Default: `'group'` for computers, `'episode'` for functions and
   * processors.
   */
  readonly scope?: RewardScope | undefined;
  /**
   * Whether threads get the tokens of a trajectory's steps and their logprobs, which are most of what there is to copy (25 nanoseconds
   * a number); with `'left-out'` these lists are empty there. Default: `'sent'`, and `'left-out'` for a processor, which reads none.
   */
  readonly tokens?: 'sent' | 'left-out' | undefined;
}
