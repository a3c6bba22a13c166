import { type GroupJob, parseOptions, requireArguments, type TrajectoryGroup } from '@rlp/core';
import type * as z from 'zod';
import type { GroupWorker } from '../pool/group-worker.ts';
import { storeGroup } from './group-results.ts';
import { queuePeers } from './peers.ts';
import { bullWorkerSchema, connectionTo } from './queue-options.ts';

/** Options of {@link serveBullRollouts}. */
export interface BullWorkerOptions extends z.input<typeof bullWorkerSchema> {
  /** Runs the jobs: `groupWorker(parts)`, or a pool of threads or processes of this machine. Required. */
  readonly worker: GroupWorker & { readonly workers?: number | undefined };
}

/** A worker that takes jobs from a queue. */
export interface BullWorker extends AsyncDisposable {
  /** Takes no more jobs and waits for those under way. May be called again. */
  close(): Promise<void>;
}

/**
 * Takes group jobs from a queue on Redis until it is closed. Run it on as many machines as you like.
 *
 * If Redis is away, it waits. If it ends in the middle of a job, another worker gets the job after `lockMs`.
 *
 * @throws OptionsError naming every problem at once, MissingPeerError if `bullmq` or `ioredis` is not installed.
 */
export async function serveBullRollouts(options: BullWorkerOptions): Promise<BullWorker> {
  requireArguments('serveBullRollouts', { options: 'object' }, options);
  const { worker, ...others } = options;
  const resolved = parseOptions('serveBullRollouts', bullWorkerSchema, others);
  const { url, queue, results, lockMs, maxStalled, jobsPerSecond } = resolved;
  const peers = await queuePeers('serveBullRollouts');
  const connection = connectionTo(url, peers);
  const stop = new AbortController();
  const taking = new peers.bullmq.Worker<GroupJob, object>(
    queue,
    async ({ id, data }) => {
      const group: TrajectoryGroup = await worker.run(data, { signal: stop.signal });
      return storeGroup(id!, group, results);
    },
    {
      ...{ connection, lockDuration: lockMs, stalledInterval: lockMs, maxStalledCount: maxStalled },
      concurrency: resolved.concurrency ?? worker.workers ?? 1,
      ...(jobsPerSecond !== undefined && {
        limiter: {
          max: Math.max(1, Math.round(jobsPerSecond)),
          duration: Math.max(1000, 1000 / jobsPerSecond),
        },
      }),
    },
  );
  taking.on('error', () => undefined);
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (async () => {
      await taking.close();
      stop.abort();
      connection.disconnect();
    })();
    return closed;
  };
  return { close, [Symbol.asyncDispose]: close };
}
