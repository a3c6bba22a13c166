import { expect, it } from 'vitest';
import { trainWalker } from './gigpo-agent.ts';
import { trainByHand } from './gigpo-by-hand.ts';

async function rewardsOf(method: 'gigpo' | 'grpo') {
  const rewards: number[] = [];
  for await (const reward of trainWalker(method, { seed: '2', iterations: 18 })) rewards.push(reward);
  return rewards;
}

it('GiGPO learns the way sooner than GRPO', async () => {
  const [gigpo, grpo] = [await rewardsOf('gigpo'), await rewardsOf('grpo')];
  const total = (rewards: readonly number[]) => rewards.reduce((sum, reward) => sum + reward, 0);
  expect(total(gigpo)).toBeGreaterThan(total(grpo));
  expect(Math.max(...gigpo.slice(-4))).toBeGreaterThan(0.9);
}, 120_000);

it('GiGPO by hand has every record, and learns the way', async () => {
  const reached: number[] = [];
  for await (const { episodes, judgements, aligned, advantaged } of trainByHand({
    iterations: 14,
    groupSize: 32,
  })) {
    expect(aligned.problems).toEqual([]);
    const steps = advantaged.flat();
    expect(steps).toHaveLength(episodes.flatMap((episode) => episode.steps).length);
    for (const { policyLogprobs, baseReward, advantage, returnToGo, stepInfo } of steps) {
      expect(policyLogprobs?.logprobs).toHaveLength(1);
      expect([0, -0.05]).toContain(baseReward);
      expect([typeof advantage, typeof returnToGo, typeof stepInfo.stateKey]).toEqual([
        'number',
        'number',
        'string',
      ]);
    }
    reached.push(judgements.filter(({ score }) => score === 1).length / judgements.length);
  }
  expect(reached[0]).toBeLessThan(0.3);
  expect(reached.at(-1)).toBeGreaterThan(0.8);
}, 120_000);
