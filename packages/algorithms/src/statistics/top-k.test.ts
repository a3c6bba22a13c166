import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { topK, torchTopK } from './top-k.ts';

const sorted = (indices: readonly number[]) => [...indices].sort((a, b) => a - b);

// From torch 2.13 on a CPU: torch.topk(torch.tensor(values, dtype=torch.float64), count).indices
const golden: readonly { values: number[]; count: number; indices: number[] }[] = [
  { values: [0, 0, 0, 0, 0, 0, 0], count: 3, indices: [3, 4, 5] },
  { values: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], count: 6, indices: [6, 7, 8, 9, 10, 11] },
  { values: [0, 0, 0, 0, 0, 0, 0, 0, 0], count: 1, indices: [7] },
  {
    values: [1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0],
    count: 7,
    indices: [0, 8, 9, 10, 11, 13, 14],
  },
  {
    values: [
      0, -1, -1, -1, 0, 0, -1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, -1, -1, 0, 1, -1, 0, -1, 0,
      -1,
    ],
    count: 12,
    indices: [11, 12, 15, 16, 17, 19, 20, 21, 22, 23, 26, 27],
  },
  { values: [2, 2, 2, 2, 2], count: 5, indices: [0, 1, 2, 3, 4] },
];

describe('top k', () => {
  it.each(golden)('takes of equal values those that torch takes: $count of $values', (example) => {
    expect(sorted(torchTopK(example.values, example.count))).toEqual(example.indices);
  });

  it('takes the earlier of equal values, largest first', () => {
    expect(topK([1, 3, 1, 3, 0], 3)).toEqual([1, 3, 0]);
  });

  it('takes the same values in either way, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 80 }),
        fc.nat(),
        (values, at) => {
          const count = 1 + (at % values.length);
          const taken = (indices: readonly number[]) =>
            indices.map((index) => values[index]!).sort((a, b) => a - b);
          expect(new Set(torchTopK(values, count)).size).toBe(count);
          expect(taken(torchTopK(values, count))).toEqual(taken(topK(values, count)));
        },
      ),
    );
  });
});
