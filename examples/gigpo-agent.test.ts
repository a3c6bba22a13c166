import { expect, it } from 'vitest';
import { trainWalker } from './gigpo-agent.ts';

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
