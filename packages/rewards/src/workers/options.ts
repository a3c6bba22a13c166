import * as z from 'zod';
import { timerMs } from '../timer.ts';

const notUrl = 'must be a URL: new URL("./rewards.ts", import.meta.url)';

/** Schema of {@link RewardWorkersOptions}. */
export const workersSchema = z.strictObject({
  /** The module that scores: `new URL('./rewards.ts', import.meta.url)`. Each thread loads its own. */
  module: z.union([z.instanceof(URL), z.url(notUrl)], notUrl),
  /** Its export: a reward function, a `RewardComputer`, or a processor; a promise of one is awaited. Default `'default'`. */
  export: z.string().min(1).default('default'),
  /** Threads at most, which is also how many requests are under way at once. Default: the cores but one, at least 1. */
  workers: z.int().positive().optional(),
  /** Episodes that a thread gets at a time, at most. Default 128. */
  batchSize: z.int().positive().default(128),
  /**
   * Milliseconds that a thread may take for what it was given, before it is ended by force; a reward function that waits is
   * given up after four fifths of it. Default 30 000.
   */
  timeoutMs: timerMs.default(30_000),
  /** Milliseconds that a thread may take to load the module. Default 30 000. */
  startMs: timerMs.default(30_000),
  /** Heap of each thread in MB. A thread that needs more ends, the process goes on. Default: Node's limit. */
  heapMb: z.number().positive().optional(),
  /**
   * What is judged by itself: `'episode'` lets a group be parted, and costs only the guilty episode where one hangs; `'group'` keeps
   * groups together, as ranks and standardised rewards need. Default: `'group'` for computers, `'episode'` for functions and
   * processors.
   */
  scope: z.enum(['episode', 'group']).optional(),
  /**
   * Whether threads get the tokens of a trajectory's steps and their logprobs, which are most of what there is to copy (25 nanoseconds
   * a number); with `'left-out'` these lists are empty there. Default: `'sent'`, and `'left-out'` for a processor, which reads none.
   */
  tokens: z.enum(['sent', 'left-out']).optional(),
});

/** What is scored in threads, and how. Only `module` is required. */
export interface RewardWorkersOptions extends Readonly<z.input<typeof workersSchema>> {}
