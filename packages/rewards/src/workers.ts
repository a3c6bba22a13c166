/** Rewards in several threads of one machine. Needs Node. */
import { openRewardWorkers } from './workers/open-workers.ts';
import type { RewardWorkersOptions } from './workers/options.ts';
import type { RewardWorkers } from './workers/reward-workers.ts';

export { ThreadError, type ThreadFailureCause } from './workers/failure.ts';
export type { RewardWorkersOptions } from './workers/options.ts';
export type { RewardScope } from './workers/protocol.ts';
export type { RewardWorkers, RewardWorkersStatistics } from './workers/reward-workers.ts';

const entry = import.meta.url.endsWith('.ts') ? './reward.worker.ts' : './reward.worker.js';

/**
 * Scores what a module exports in several threads.
 *
 *     const workers = await createRewardWorkers({ module: new URL('./rewards.ts', import.meta.url), workers: 4 });
 *     const scored = await workers.computeRewards(group); // as the module's export would, in other threads
 *     await workers.close();
 *
 * It pays where scoring takes more than sending: from about a tenth of a millisecond per episode on. Threads are no sandbox: the
 * module may do what the process may. It is loaded once to see whether it can be used.
 *
 * @throws `OptionsError` naming every problem; {@link ThreadError} for a module that cannot be loaded or exports no reward.
 */
export function createRewardWorkers<Metadata = unknown>(
  options: RewardWorkersOptions,
): Promise<RewardWorkers<Metadata>> {
  return openRewardWorkers(options, {
    entry: new URL(entry, import.meta.url),
    sourceBootstrap: new URL('./worker-source.mjs', import.meta.url),
  });
}
