import type { RewardComputer, TrajectoryGroup } from '@rlp/core';
import type { ThreadService } from '@rlp/sandbox/threads';
import { rewardComputerOf } from '../functions/reward-functions.ts';
import type { RolloutRewardProcessor } from '../processor/processor.ts';
import { hasMethod, judgesAlone } from '../shared/schemas.ts';
import type { ThreadData, ThreadExport, TrajectoryScores } from './protocol.ts';

/** Share of the thread's time after which an asynchronous function is given up, so that the thread can go on. */
const functionShare = 0.8;

/** Loads the module whose export scores, and answers with its scores. */
export async function openScorer({
  module,
  exportName,
  timeoutMs,
}: ThreadData): Promise<ThreadService<TrajectoryGroup, TrajectoryScores, ThreadExport>> {
  const loaded = (await import(module)) as Readonly<Record<string, unknown>>;
  const reward = await loaded[exportName];
  const computer = rewardComputerOf(reward, functionShare * timeoutMs);
  if (computer === undefined) {
    throw new TypeError(
      `${module}: expected the export "${exportName}" to be a reward function or to have computeRewards, got ${typeof reward}; ` +
        `the module exports ${Object.keys(loaded).join(', ') || 'nothing'}`,
    );
  }
  const processor = hasMethod(reward, 'processEpisodeRewards')
    ? (reward as RolloutRewardProcessor)
    : undefined;
  return {
    ready: {
      scope: processor || judgesAlone(computer) ? 'episode' : 'group',
      components: processor && Object.keys(processor.getStatistics().rewards),
    },
    answer: (group) => scoresOf(computer, group),
  };
}

async function scoresOf(computer: RewardComputer, group: TrajectoryGroup): Promise<TrajectoryScores> {
  const { trajectories } = group;
  const scored = await computer.computeRewards(group);
  if (scored.length !== trajectories.length) {
    throw new RangeError(`expected ${trajectories.length} rewards of the computer, got ${scored.length}`);
  }
  return scored.map(({ trajectory, ...scores }, row) =>
    trajectory === trajectories[row] ? scores : { ...scores, trajectory },
  );
}
