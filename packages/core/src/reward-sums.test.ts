import { expect, it } from 'vitest';
import { normalizedSums, weightedRewards } from './reward-sums.ts';

const rewards = [
  [
    [0, 100],
    [1, null],
    [null, null],
  ],
  [
    [1, null],
    [0, 50],
  ],
];

it('sums with weights; null only if no function scored', () => {
  expect(weightedRewards(rewards, [1, 0.5])).toEqual([
    [50, 1, null],
    [1, 25],
  ]);
});

it('names the completion that does not have one reward per weight', () => {
  expect(() => weightedRewards(rewards, [1])).toThrow(/rewards\[0\]\[0\] must have 1 rewards.*got 2/);
});

it('normalises each function before the sum', () => {
  const halved = (groups: readonly (readonly (number | null)[])[]) =>
    groups.map((group) => group.map((value) => (value ?? 0) / 2));
  expect(normalizedSums(rewards, [2, 1], halved)).toEqual([
    [50, 1, null],
    [1, 25],
  ]);
});
