import { availableParallelism } from 'node:os';
import { parseOptions } from '@rlp/core';
import { type RewardWorkersOptions, workersSchema } from './options.ts';
import { RewardWorkers } from './reward-workers.ts';
import { ThreadPool } from './thread-pool.ts';

/** Where the threads' program is, and for one in TypeScript the module that makes Node understand it. */
export interface ThreadPrograms {
  readonly entry: URL;
  readonly sourceBootstrap: URL;
}

/** Starts a thread, to see whether the module can be used; see `createRewardWorkers`. */
export async function openRewardWorkers<Metadata>(
  options: RewardWorkersOptions,
  { entry, sourceBootstrap }: ThreadPrograms,
): Promise<RewardWorkers<Metadata>> {
  const given = parseOptions('createRewardWorkers', workersSchema, options);
  const { module, export: exportName, timeoutMs, startMs, heapMb, batchSize } = given;
  const workers = given.workers ?? Math.max(1, availableParallelism() - 1);
  const isSource = entry.pathname.endsWith('.ts');
  const pool = new ThreadPool(
    {
      program: isSource ? sourceBootstrap : entry,
      data: { entry: entry.href, module: String(module), exportName, timeoutMs },
      execArgv: isSource ? ['--conditions=@rlp/source'] : undefined,
      startMs,
      heapMb,
    },
    workers,
  );
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
