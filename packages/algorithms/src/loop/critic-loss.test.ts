import { defineLoss } from '@rlp/core';
import { evaluate, matrixFromRows } from '@rlp/tensor';
import { expect, it } from 'vitest';
import { sharedLoss } from './critic-loss.ts';
import { type RlOptions, resolveRlOptions } from './options.ts';

const policy = defineLoss({
  key: 'minus logprobs',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
});

/** Loss of one token: the policy's is 3, and the value's (5 − 1)²/2 = 8. */
const lossOf = (critic: NonNullable<RlOptions['critic']>) => {
  const one = (value: number) => matrixFromRows([[value]]);
  return evaluate(sharedLoss(policy, resolveRlOptions({ critic }).critic), {
    ...{ logprobs: one(-3), values: one(5), mask: one(1), weights: one(1) },
    columns: { returns: one(1), criticFactors: one(0.5) },
  });
};

it('a critic that shares the trunk adds its coefficient times its loss', () => {
  expect(lossOf({ coefficient: 0.25 }).value).toBe(3 + 0.25 * 8);
  expect(lossOf({ coefficient: 0.25 }).metrics).toEqual({ 'loss/value': 8 });
});

it('a separate aggregation of the critic multiplies its part alone', () => {
  const { value, gradients } = lossOf({ coefficient: 0.25, aggregation: 'token-mean' });
  expect(value).toBe(3 + 0.5 * 0.25 * 8);
  expect(gradients.values!.data[0]).toBe(0.5 * 0.25 * (5 - 1));
  expect(gradients.logprobs.data[0]).toBe(-1);
});
