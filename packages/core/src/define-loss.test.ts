import { describe, expect, it } from 'vitest';
import { defineLoss, type Loss } from './training.ts';

describe('defineLoss', () => {
  it('knows the columns that a loss names', () => {
    const loss = defineLoss({
      key: 'policy gradient',
      columns: ['advantages', 'referenceLogprobs'],
      compute: (ops, { logprobs, columns }) => {
        // @ts-expect-error a misspelt column
        const misspelt = columns.advantage;
        expect(misspelt).toBeUndefined();
        return { tokenLosses: ops.neg(ops.mul(logprobs, columns.advantages)) };
      },
    });
    const any: Loss = loss;
    expect(any.columns).toEqual(['advantages', 'referenceLogprobs']);
  });
});
