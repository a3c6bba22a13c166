import { availableParallelism } from 'node:os';
import { parseOptions } from '@rlp/core';
import { ThreadPool } from '@rlp/sandbox/threads';
import { type RewardWorkersOptions, workersSchema } from './options.ts';
import type { ThreadAnswer, ThreadExport, ThreadRequest } from './protocol.ts';
import { RewardWorkers } from './reward-workers.ts';

/** Starts a thread of `program`, to see whether the module can be used; see `createRewardWorkers`. */
export async function openRewardWorkers<Metadata>(
  options: RewardWorkersOptions,
  program: URL,
): Promise<RewardWorkers<Metadata>> {
  const given = parseOptions('createRewardWorkers', workersSchema, options);
  const { module, export: exportName, timeoutMs, startMs, heapMb, batchSize } = given;
  const workers = given.workers ?? Math.max(1, availableParallelism() - 1);
  const data = { module: String(module), exportName, timeoutMs };
  const settings = { program, data, name: 'RewardWorkers', startMs, heapMb };
  const pool = new ThreadPool<ThreadRequest, ThreadAnswer, ThreadExport>(settings, workers);
  try {
    const exported = await pool.open();
    return new RewardWorkers(pool, {
      exported,
      scope: given.scope ?? exported.scope,
      tokens: given.tokens ?? (exported.scores === 'episodes' ? 'left-out' : 'sent'),
      workers,
      batchSize,
      timeoutMs,
    });
  } catch (error) {
    await pool.close();
    throw error;
  }
}
