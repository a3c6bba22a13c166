import { timerMs } from '@rlp/core';
import type { Redis } from 'ioredis';
import * as z from 'zod';
import type { QueuePeers } from './peers.ts';

/** Options that both sides of a queue have. */
const queueSchema = z.strictObject({
  /** Address of Redis, such as `redis://127.0.0.1:6379`. It may hold a password. Never logged. Required. */
  url: z.string().regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://'),
  /** Name of the queue. Default `'rlp-rollouts'`. */
  queue: z
    .string()
    .regex(/^[^:]+$/, 'must not hold ":"')
    .default('rlp-rollouts'),
  /** Folder for groups that all machines can reach. By default groups travel through Redis. */
  results: z.string().min(1).optional(),
});

/** Options of the controller. */
export const bullRolloutsSchema = queueSchema.extend({
  /** Jobs that the workers of all machines run at once, about. Bounds how many a collection sends. Default 64. */
  workers: z.int().positive().default(64),
  /** Times that a job is tried when it throws. Default 3. */
  attempts: z.int().positive().default(3),
  /** Milliseconds before a job that threw is tried again, doubled each time. Default 1000. */
  backoffMs: timerMs.default(1000),
  /** Milliseconds between looks for results whose news were lost. Default 2000. */
  pollMs: timerMs.default(2000),
  /** Milliseconds that a job may take, waiting included. Default 3 600 000. */
  deadlineMs: timerMs.default(3_600_000),
  /** Seconds that a job and its group stay in Redis once it is done. Default 3600. */
  keepSeconds: z.int().positive().default(3600),
});

/** Options of a worker, apart from what runs its jobs. */
export const bullWorkerSchema = queueSchema.extend({
  /** Jobs of this worker at once. Default: the workers of the pool, or 1. */
  concurrency: z.int().positive().optional(),
  /** Milliseconds without a sign of life after which another worker gets a job. Default 30 000. */
  lockMs: timerMs.default(30_000),
  /** Times that a job may outlive its worker. Default 3. */
  maxStalled: z.int().nonnegative().default(3),
  /** Most jobs per second of all workers of the queue. Default: no limit. */
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
