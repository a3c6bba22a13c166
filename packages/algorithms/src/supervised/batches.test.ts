import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { type BatchPlan, batches } from './batches.ts';

const lengths = [3, 1, 4, 1, 5];
const made = (plan: Partial<BatchPlan>, of: readonly number[] = lengths) => [
  ...batches(of, { seed: 's', perBatch: 2, ...plan }),
];

describe('batches', () => {
  it('are one pass by default, in which every example comes once', () => {
    const once = made({});
    expect(once.map(({ rows }) => rows.length)).toEqual([2, 2, 1]);
    expect(once.map(({ epoch }) => epoch)).toEqual([0.4, 0.8, 1]);
    expect(once.flatMap(({ rows }) => rows).sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it('are shuffled anew in each epoch, and the same again from the same seed', () => {
    const order = (plan: Partial<BatchPlan>) =>
      made({ epochs: 2, perBatch: 5, ...plan }).map(({ rows }) => rows);
    const [first, second] = order({});
    expect(second).not.toEqual(first);
    expect(order({})).toEqual([first, second]);
    expect(order({ seed: 't' })[0]).not.toEqual(first);
  });

  it('end within an epoch, or after so many updates, however many epochs they take', () => {
    expect(made({ epochs: 1.5 }).map(({ epoch }) => epoch)).toEqual([0.4, 0.8, 1, 1.4, 1.8]);
    expect(made({ updates: 4 }).map(({ epoch }) => epoch)).toEqual([0.4, 0.8, 1, 1.4]);
    expect(made({ epochs: 1, updates: 2 })).toHaveLength(2);
  });

  it('hold as many tokens as fit, and one example that does not', () => {
    const tokens = made({ perBatch: 9, tokensPerBatch: 4 }).map(({ rows }) =>
      rows.reduce((sum, row) => sum + lengths[row]!, 0),
    );
    expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(14);
    for (const count of tokens) expect(count === 5 || count <= 4).toBe(true);
    expect(made({ perBatch: 9, tokensPerBatch: 4 }, [2, 2, 2, 2]).map(({ rows }) => rows.length)).toEqual([
      2, 2,
    ]);
    expect(made({ perBatch: 9, tokensPerBatch: 3 }, [2, 2]).map(({ rows }) => rows.length)).toEqual([1, 1]);
  });

  it.each<Partial<BatchPlan>>([{}, { updates: 3 }, { epochs: 2 }])(
    'of no examples are refused: %j',
    (plan) => {
      expect(() => made(plan, [])).toThrow(
        new ArgumentError('expected at least one training example, got none'),
      );
    },
  );

  it('of no examples are none for no updates', () => {
    expect(made({ updates: 0 }, [])).toEqual([]);
  });
});
