import { expect, it } from 'vitest';
import { EpisodeRewards } from './episode-rewards.ts';

it('is JSON of plain arrays, with null for what has no number', () => {
  const failure = { source: 'b', cause: 'threw', message: 'no' } as const;
  const rewards = EpisodeRewards.of(
    [
      { reward: 0.5, components: { a: 1, b: 0 } },
      { reward: null, components: { a: 0, b: null }, failures: [failure] },
    ],
    ['a', 'b'],
  );
  expect(JSON.parse(JSON.stringify(rewards))).toEqual({
    rewards: [0.5, null],
    components: { a: [1, 0], b: [0, null] },
    failures: [{ index: 1, ...failure }],
    dtype: 'float64',
    shape: [2],
  });
});
