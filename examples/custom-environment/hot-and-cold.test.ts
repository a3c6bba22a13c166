import { expect, it } from 'vitest';
import { play } from './hot-and-cold.ts';

it('learns to guess the middle first and to follow the hint', async () => {
  const won: number[] = [];
  for await (const share of play(60)) won.push(share);
  const mean = (shares: readonly number[]) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
  expect(mean(won.slice(0, 3))).toBeLessThan(0.5);
  expect(mean(won.slice(-5))).toBeGreaterThan(0.95);
});
