import type { RewardComputer, RewardFunction } from '@rlp/core';
import { relativeRewardComputer } from '../computers/wrapped.ts';
import { rewardFunctions } from '../functions/reward-functions.ts';
import { createRolloutRewardProcessor } from '../processor/processor.ts';

/** What responses of the tests may make a reward do. */
function obey(response: string): void {
  if (response === 'loop') for (;;);
  // Answers no more, as a loop does, and leaves the processor to others.
  if (response === 'stop') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (response === 'throw') throw new Error('as asked');
  if (response === 'exit') process.exit(3);
  // Ends the thread after the answer is given.
  if (response === 'stray') setTimeout(() => void Promise.reject(new Error('stray')), 100);
  if (response === 'memory')
    for (const held: number[][] = []; ; ) held.push(new Array<number>(100_000).fill(1));
}

/** A reward function: the response's length. */
export const characters: RewardFunction = ({ response }) => {
  obey(response);
  if (response === 'slow') return new Promise((resolve) => setTimeout(resolve, 300, response.length));
  return response === 'wait' ? new Promise(() => {}) : response.length;
};

export default characters;

/** The same function in a computer. */
export const functions = rewardFunctions({ characters });

/** A computer that compares the members of a group. */
export const ranked = relativeRewardComputer(rewardFunctions({ characters: { reward: characters } }));

/** How many tokens a trajectory came with; gives it a reward for each step. */
export const tokens: RewardComputer = {
  computeRewards: async ({ trajectories }) =>
    trajectories.map((trajectory) => {
      const steps = trajectory.steps.map((step) => ({ ...step, reward: 1 }));
      const reward = steps.reduce((sum, step) => sum + step.tokens.length, 0);
      return { trajectory: { ...trajectory, steps }, reward, components: {} };
    }),
};

/** A processor, as a promise. */
export const processor = Promise.resolve(
  createRolloutRewardProcessor({ targetLength: 4 }).addReward('obeys', (_prompt, response) => {
    obey(response);
    return 1;
  }),
);

/** No reward. */
export const answer = 42;
