/** Rewards in several threads of one machine. Needs Node. */
import type { RewardWorkersOptions } from './workers/options.ts';
import { openRewardWorkers, type RewardWorkers } from './workers/reward-workers.ts';

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
 * Use them for rewards that take a tenth of a millisecond and more, or may hang. Sending an episode takes some microseconds, and each thread
 * compiles its own code. Threads are not a sandbox. The module may do what the process may. One is started at once, to see whether
 * the module can be used.
 *
 * @throws OptionsError naming every problem; ThreadError of `@rlp/sandbox/threads` for a module that cannot be loaded or exports no reward.
 */
export function createRewardWorkers<Metadata = unknown>(
  options: RewardWorkersOptions,
): Promise<RewardWorkers<Metadata>> {
  return openRewardWorkers(options, new URL(entry, import.meta.url));
}
