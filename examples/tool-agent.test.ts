import { expect, it } from 'vitest';
import { trainAgent } from './tool-agent.ts';

it('learns to call the tool once and to answer by what it says', async () => {
  const rewards: number[] = [];
  for await (const reward of trainAgent(40)) rewards.push(reward);
  expect(rewards[0]).toBeLessThan(0.5);
  expect(Math.min(...rewards.slice(-5))).toBeGreaterThan(0.9);
});
