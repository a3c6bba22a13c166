import { timerMs } from '@rlp/core';
import * as z from 'zod';

const notUrl = 'must be a URL: new URL("./rewards.ts", import.meta.url)';

/** Schema of {@link RewardWorkersOptions}. */
export const workersSchema = z.strictObject({
  /** Module that scores, such as `new URL('./rewards.ts', import.meta.url)`. Each thread loads it. Required. */
  module: z.union([z.instanceof<new (url: string) => URL>(URL), z.url(notUrl)], notUrl),
  /** Name of its export: a reward function, a `RewardComputer`, a processor, or a promise of one. Default `'default'`. */
  export: z.string().min(1).default('default'),
  /** Most threads, and most requests in progress. Default: the number of cores minus one, at least 1. */
  workers: z.int().positive().optional(),
  /** Most episodes that a thread gets at a time. Default 128. */
  batchSize: z.int().positive().default(128),
  /**
   * Milliseconds that a thread may take for a request before it is ended. An asynchronous reward function is given up after 80 % of it.
   * Default 30 000.
   */
  timeoutMs: timerMs.default(30_000),
  /** Milliseconds that a thread may take to load the module. Default 30 000. */
  startMs: timerMs.default(30_000),
  /** Heap of each thread in MB. Only the thread ends if it needs more. Default: Node's limit. */
  heapMb: z.number().positive().optional(),
  /**
   * Unit of scoring. `'episode'` may split a group, and a hanging episode costs no other. `'group'` keeps groups together, as ranks and
   * standardised rewards require. Default: `'episode'` for functions, `rewardFunctions`, `reward` and processors, else `'group'`.
   */
  scope: z.enum(['episode', 'group']).optional(),
  /**
   * Whether threads get the tokens and logprobs of trajectories. Copying them takes 25 ns a number. With `'left-out'` these lists are empty.
   * Default: `'left-out'` for processors, else `'sent'`.
   */
  tokens: z.enum(['sent', 'left-out']).optional(),
});

/** Options of `createRewardWorkers`. */
export interface RewardWorkersOptions extends z.input<typeof workersSchema> {}
