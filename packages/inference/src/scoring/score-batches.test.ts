import { expect, it } from 'vitest';
import { scoreBatches } from './score-batches.ts';

it('requests are sorted by length, cut at the budget and padded on the right', () => {
  const requests = [
    { prompt: [1], completion: [2] },
    { prompt: [3, 4], completion: [5, 6] },
    { prompt: [7], completion: [8, 9] },
  ];
  const [large, small] = scoreBatches(requests, 6);
  expect(large!.parts).toEqual([
    { index: 1, from: 0, to: 2 },
    { index: 2, from: 2, to: 4 },
  ]);
  expect([large!.count, large!.time]).toEqual([2, 3]);
  expect([...large!.tokens]).toEqual([3n, 4n, 5n, 7n, 8n, 0n]);
  expect([...large!.positions]).toEqual([0n, 1n, 2n, 0n, 1n, 2n]);
  expect([...large!.rows]).toEqual([1n, 2n, 3n, 4n]);
  expect([...large!.targets]).toEqual([5n, 6n, 8n, 9n]);
  expect(small!.parts).toEqual([{ index: 0, from: 0, to: 1 }]);
});

it('a request longer than the budget is computed alone, and one without completion not at all', () => {
  const long = { prompt: [1, 2, 3], completion: [4] };
  expect(scoreBatches([long, long, { prompt: [1, 2], completion: [] }], 2)).toHaveLength(2);
});
