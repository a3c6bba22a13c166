import { timerMs } from '@rlp/core';
import type { Redis } from 'ioredis';
import * as z from 'zod';
import type { QueuePeers } from './peers.ts';

/** Options that both sides of a queue have. */
const queueSchema = z.strictObject({
  /** Address of Redis, such as `redis://127.0.0.1:6379`. It may hold a password, which is never logged. Required. */
  url: z.string().regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://'),
  /** Name of the queue. Default `'rlp-rollouts'`. */
  queue: z
    .string()
    .regex(/^[^:]+$/, 'must not hold ":"')
    .default('rlp-rollouts'),
  /** Folder for groups. All machines must reach it. By default groups travel through Redis. */
  results: z.string().min(1).optional(),
});

/** Options of the controller. */
export const bullRolloutsSchema = queueSchema.extend({
  /** Approximate number of jobs that the workers of all machines run at once. Limits how many a collection sends. Default 64. */
  workers: z.int().positive().default(64),
  /** Maximum attempts of a job that throws. Default 3. */
  attempts: z.int().positive().default(3),
  /** Pause before a job that threw is tried again, in milliseconds. It doubles with each attempt. Default 1000. */
  backoffMs: timerMs.default(1000),
  /** Milliseconds between two looks for results whose notification was lost. Default 2000. */
  pollMs: timerMs.default(2000),
  /** Maximum duration of a job, waiting included, in milliseconds. Default 3600000 (1 hour). */
  deadlineMs: timerMs.default(3_600_000),
  /** Seconds that a finished job and its group stay in Redis. Default 3600. */
  keepSeconds: z.int().positive().default(3600),
});

/** Options of a worker, apart from what runs its jobs. */
export const bullWorkerSchema = queueSchema.extend({
  /** Jobs that this worker runs at once. Default: the workers of the pool, or 1. */
  concurrency: z.int().positive().optional(),
  /** Milliseconds without a heartbeat after which another worker takes over a job. Default 30000. */
  lockMs: timerMs.default(30_000),
  /** Maximum times that a job is taken over from a worker that died. Default 3. */
  maxStalled: z.int().nonnegative().default(3),
  /** Maximum jobs per second over all workers of the queue. Default: no limit. */
  jobsPerSecond: z.number().positive().optional(),
});

/** A connection that waits for Redis when it is away. Commands wait too. */
export function connectionTo(url: string, { Redis: Client }: QueuePeers): Redis {
  const connection = new Client(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(2000, 50 * attempt),
  });
  connection.setMaxListeners(0);
  // Without a listener, an error of the connection would end the process. It is made again.
  connection.on('error', () => undefined);
  return connection;
}
