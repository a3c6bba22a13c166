import { availableParallelism } from 'node:os';
import { parseOptions } from '@rlp/core';
import { ThreadPool } from '@rlp/sandbox/threads';
import { type RewardWorkersOptions, workersSchema } from './options.ts';
import { type RewardThreads, RewardWorkers } from './reward-workers.ts';

/** Starts a thread of `program` to check that the module can be used. See `createRewardWorkers`. */
export async function openRewardWorkers<Metadata>(
  options: RewardWorkersOptions,
  program: URL,
): Promise<RewardWorkers<Metadata>> {
  const given = parseOptions('createRewardWorkers', workersSchema, options);
  const { module, export: exportName, timeoutMs, startMs, heapMb, batchSize } = given;
  const workers = given.workers ?? Math.max(1, availableParallelism() - 1);
  const data = { module: String(module), exportName, timeoutMs };
  const pool: RewardThreads = new ThreadPool(
    { program, data, name: 'RewardWorkers', startMs, heapMb },
    workers,
  );
  try {
    const { scope, components } = await pool.open();
    return new RewardWorkers(pool, {
      components,
      scope: given.scope ?? scope,
      tokens: given.tokens ?? (components === undefined ? 'sent' : 'left-out'),
      workers,
      batchSize,
      timeoutMs,
    });
  } catch (error) {
    await pool.close();
    throw error;
  }
}
