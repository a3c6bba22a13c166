import type { ScoredTrajectory } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byTask, rewardWeights as weightsOf } from './batch-facts.ts';

/** Of texts that differ, each given to a task of its own, unless said. */
const rewardWeights = (
  rewards: readonly (number | null)[],
  texts: readonly number[] = rewards.map((_, at) => at),
  tasks: readonly string[] = rewards.map((_, at) => `${at}`),
  lately = { mean: 0, weight: 0 },
) => {
  const trajectories = rewards.map((reward, at) => ({
    reward,
    trajectory: { task: { id: tasks[at] } },
  })) as ScoredTrajectory[];
  const clusters = new Uint32Array(rewards.length);
  for (const [number, [, members]] of byTask(trajectories).entries()) {
    for (const at of members) clusters[at] = number;
  }
  return [...weightsOf(trajectories, { texts: Int32Array.from(texts), clusters }, lately)];
};

describe('weights', () => {
  it('are 1 and −1 where there are two rewards', () => {
    expect(rewardWeights([1, 0, 0, 1, 0])).toEqual([1, -1, -1, 1, -1]);
  });

  it('are the smaller the nearer to the mean a reward is', () => {
    // Mean 0, median distance 4 on either side: whole from 2 on.
    expect(rewardWeights([4, -4, 4, -4, 1, -1])).toEqual([1, -1, 1, -1, 0.5, -0.5]);
  });

  it('compare a small batch with what was earned before, and a large one with itself', () => {
    const after = (rewards: readonly number[], lately: { mean: number; weight: number }) =>
      rewardWeights(rewards, undefined, undefined, lately);
    expect(after([1, 1, 1, 1], { mean: 0.3, weight: 24 })).toEqual([1, 1, 1, 1]);
    expect(after([0.3, 0.3, 0.3], { mean: 0.3, weight: 24 })).toEqual([0, 0, 0]);
    // Usual is (4 · 1 + 4 · 0) / (4 + 4) = 0.5 in the one, (64 · 1 + 24 · 0) / (64 + 24) = 0.73 in the other.
    const [few, many] = [1, 16].map((times) =>
      Array.from({ length: times }, () => [0.6, 1.4, 0.6, 1.4]).flat(),
    );
    expect(after(few!, { mean: 0, weight: 4 }).map(Math.sign)).toEqual([1, 1, 1, 1]);
    expect(after(many!, { mean: 0, weight: 24 }).map(Math.sign).slice(0, 4)).toEqual([-1, 1, -1, 1]);
  });

  it('are 0 without a reward, and where all are alike', () => {
    expect(rewardWeights([null, 1, Number.NaN, 0])).toEqual([0, 1, 0, -1]);
    expect(rewardWeights([0.3, 0.3, null])).toEqual([0, 0, 0]);
    expect(rewardWeights([])).toEqual([]);
  });

  it('count a text once that a task was given several times', () => {
    const given = rewardWeights([1, 1, 0, 1, 0, 0], [7, 7, 8, 7, 8, 8], ['a', 'a', 'a', 'b', 'b', 'c']);
    expect(given).toEqual([0.5, 0.5, -1, 1, -1, -1]);
  });

  it('count each response where there are hardly any tasks', () => {
    expect(rewardWeights([1, 1, 0, 0], [7, 7, 7, 7], ['a', 'a', 'a', 'a'])).toEqual([1, 1, -1, -1]);
  });

  it('do not change with the scale of rewards, and stay in −1..1 whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50, max: 50 })), (rewards) => {
        expect(rewardWeights(rewards.map((reward) => 4 * reward))).toEqual(rewardWeights(rewards));
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.double()), (rewards) => {
        expect(rewardWeights(rewards).every((weight) => Math.abs(weight) <= 1)).toBe(true);
      }),
    );
  });
});
