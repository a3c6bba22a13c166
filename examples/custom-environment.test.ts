import { expect, it } from 'vitest';
import { play } from './custom-environment.ts';

it('learns to guess the middle first and to follow the hint', async () => {
  const rewards: number[] = [];
  for await (const reward of play(60)) rewards.push(reward);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(mean(rewards.slice(0, 3))).toBeLessThan(0.5);
  expect(mean(rewards.slice(-5))).toBeGreaterThan(0.95);
});
