import { groupRelativeAdvantages } from '@rlp/algorithms/advantage';
import { aggregationWeights, policyLoss } from '@rlp/algorithms/loss';
import { RandomStream } from '@rlp/core';
import { evaluate, matrixFromRows } from '@rlp/tensor';
import { describe, expect, it } from 'vitest';
import { clip, groupAdvantages, grpo, surrogate, TablePolicy } from './grpo-in-one-file.ts';

const random = RandomStream.named('grpo-in-one-file');
const draw = (count: number, of: () => number) => Array.from({ length: count }, of);

describe('grpo in one file', () => {
  it("has the library's advantages", () => {
    const groups = [
      [1, 0, 0, 1, 1],
      [0.5, 0.5, 0.5],
      ...Array.from({ length: 50 }, () => draw(8, () => random.normal())),
    ];
    expect(groups.map(groupAdvantages)).toEqual(
      groupRelativeAdvantages(groups).map((row) => row.map((x) => expect.closeTo(x, 12))),
    );
  });

  it("has the library's loss and gradient", () => {
    const count = 500;
    const logprobs = draw(count, () => -5 * random.uniform());
    const behaviorLogprobs = logprobs.map((logprob) => logprob + 0.5 * random.normal());
    const advantages = draw(count, () => random.normal());
    const mask = [logprobs.map(() => 1)];
    const loss = policyLoss({
      clipLow: clip.low,
      clipHigh: clip.high,
      proximal: 'behavior',
      correction: 'none',
    });
    const expected = evaluate(loss, {
      logprobs: matrixFromRows([logprobs]),
      mask: matrixFromRows(mask),
      weights: matrixFromRows(aggregationWeights(mask, { mode: 'token-mean' })),
      columns: {
        behaviorLogprobs: matrixFromRows([behaviorLogprobs]),
        advantages: matrixFromRows([advantages]),
      },
    });
    const ours = logprobs.map((logprob, t) => surrogate(logprob, behaviorLogprobs[t]!, advantages[t]!));
    expect(ours.reduce((sum, token) => sum + token.loss, 0) / count).toBeCloseTo(expected.value, 12);
    expect(ours.map(({ gradient }) => gradient / count)).toEqual(
      Array.from(expected.gradients.logprobs.data, (x) => expect.closeTo(x, 12)),
    );
    expect(ours.some(({ gradient }) => gradient === 0)).toBe(true);
  });

  it('learns to add', () => {
    const accuracies: number[] = [];
    for (const { accuracy } of grpo(new TablePolicy(), { iterations: 80 })) accuracies.push(accuracy);
    const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;
    expect(mean(accuracies.slice(0, 5))).toBeLessThan(0.1);
    expect(mean(accuracies.slice(-5))).toBeGreaterThan(0.85);
  });
});
