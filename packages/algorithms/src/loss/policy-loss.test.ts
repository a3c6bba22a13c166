import { evaluate, matrixFromRows } from '@rlp/tensor';
import { describe, expect, it } from 'vitest';
import { policyLoss } from './policy-loss.ts';
import type { PolicyLossOptions } from './policy-loss-options.ts';

/** Evaluates the loss of single tokens: columns of one row. */
function run(options: PolicyLossOptions, columns: Readonly<Record<string, readonly number[]>>) {
  const { logprobs, entropies, ...data } = columns;
  const ones = logprobs!.map(() => 1);
  const { tokenLosses, gradients, metrics } = evaluate(policyLoss(options), {
    logprobs: matrixFromRows([logprobs!]),
    mask: matrixFromRows([ones]),
    weights: matrixFromRows([ones]),
    entropies: entropies && matrixFromRows([entropies]),
    columns: Object.fromEntries(Object.entries(data).map(([name, row]) => [name, matrixFromRows([row])])),
  });
  return { losses: [...tokenLosses.data], slopes: [...gradients.logprobs.data], metrics };
}

const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 12));
const ratios = [0.5, 0.9, 1, 1.2, 1.5];
const proximalLogprobs = ratios.map(() => -1);
const logprobs = ratios.map((ratio) => -1 + Math.log(ratio));

describe('policyLoss', () => {
  it('clips upwards for good tokens and downwards for bad ones', () => {
    const options = { clipLow: 0.2, clipHigh: 0.3, proximal: 'column', correction: 'none' } as const;
    const good = run(options, { logprobs, proximalLogprobs, advantages: ratios.map(() => 2) });
    expect(good.losses).toEqual(close([-1, -1.8, -2, -2.4, -2.6]));
    expect(good.slopes).toEqual(close([-1, -1.8, -2, -2.4, 0]));
    const bad = run(options, { logprobs, proximalLogprobs, advantages: ratios.map(() => -2) });
    expect(bad.losses).toEqual(close([1.6, 1.8, 2, 2.4, 3]));
    expect(bad.slopes).toEqual(close([0, 1.8, 2, 2.4, 3]));
    expect(good.metrics).toMatchObject({
      'clip/low': 0,
      'clip/high': 0.2,
      'ratio/mean': expect.closeTo(1.02),
    });
    expect(bad.metrics).toMatchObject({ 'clip/low': 0.2, 'clip/high': 0 });
    // Mean of ln π_proximal − ln π, so the sign is that of −ln ratio.
    const moved = -ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length;
    expect(good.metrics['kl/update']).toBeCloseTo(moved, 12);
  });

  it('caps the loss of bad tokens by the dual clip', () => {
    const far = { logprobs: [Math.log(5) - 1], proximalLogprobs: [-1], advantages: [-1] };
    const options = { dualClip: 3, proximal: 'column', correction: 'none' } as const;
    expect(run(options, far)).toMatchObject({ losses: [3], slopes: [0], metrics: { 'clip/dual': 1 } });
  });

  it('limits the log ratio of a k3 penalty only', () => {
    const far = { logprobs: [-4], advantages: [0], referenceLogprobs: [-1] };
    const options = { klCoefficient: 1, logRatioLimit: 2, correction: 'none' } as const;
    expect(run({ ...options, klEstimator: 'k3' }, far).losses).toEqual(close([Math.exp(2) - 3]));
    expect(run({ ...options, klEstimator: 'k2' }, far).losses).toEqual(close([4.5]));
  });

  it('is the policy gradient when the ratio is taken to the current policy', () => {
    const result = run({ correction: 'none' }, { logprobs: [-1, -2], advantages: [0.5, -3] });
    expect(result).toMatchObject({
      losses: [-0.5, 3],
      slopes: [-0.5, 3],
      metrics: { 'ratio/mean': 1, 'kl/update': 0 },
    });
  });

  it('weighs tokens by the truncated ratio of trainer and sampler, without a gradient through it', () => {
    const columns = {
      logprobs: [-1, -1, -1],
      behaviorLogprobs: [-1, -1 - Math.log(10), -1 + Math.log(2)],
      advantages: [1, 1, 1],
    };
    const { losses, slopes, metrics } = run({ correction: 'token-truncate', correctionCap: 2 }, columns);
    expect(losses).toEqual(close([-1, -2, -0.5]));
    expect(slopes).toEqual(close([-1, -2, -0.5]));
    expect(metrics['gap/sampler']).toBeCloseTo((Math.log(10) - Math.log(2)) / 3, 12);
  });

  it('drops bad sequences that the policy has left by more than the threshold', () => {
    const left = { logprobs: [-2], behaviorLogprobs: [-1], advantages: [-1] };
    const lossOf = (offPolicyThreshold: number) =>
      run({ correction: 'none', offPolicyThreshold }, left).losses;
    expect(lossOf(0.9).map(Math.abs)).toEqual([0]);
    expect(lossOf(1.1)).toEqual([1]);
  });

  it('adds k3 to the reference and takes entropy away', () => {
    const columns = {
      logprobs: [-1],
      advantages: [0],
      referenceLogprobs: [-1 + Math.log(2)],
      entropies: [0.7],
    };
    const options = { correction: 'none', klCoefficient: 0.1, entropyCoefficient: 0.01 } as const;
    const { losses, slopes, metrics } = run(options, columns);
    const k3 = 2 - Math.log(2) - 1;
    expect(losses).toEqual(close([0.1 * k3 - 0.007]));
    expect(slopes).toEqual(close([0.1 * (1 - 2)]));
    expect(metrics).toMatchObject({
      'kl/reference': expect.closeTo(k3),
      'entropy/mean': expect.closeTo(0.7),
    });
  });

  it('divides by the number of tokens and an epsilon, over sequences', () => {
    const columns = { logprobs: [-1, -1], proximalLogprobs: [-2, -3], advantages: [1, 1] };
    const lossOf = (options: PolicyLossOptions) =>
      run({ ratio: 'sequence', proximal: 'column', correction: 'none', clipHigh: 99, ...options }, columns);
    expect(lossOf({}).losses).toEqual(close([-Math.exp(3 / 2), -Math.exp(3 / 2)]));
    expect(lossOf({ countEpsilon: 1 }).losses).toEqual(close([-Math.E, -Math.E]));
  });

  it('stays finite when the policies have nothing in common', () => {
    const far = { logprobs: [0], proximalLogprobs: [-1000], advantages: [1], referenceLogprobs: [-1000] };
    const { losses, slopes } = run({ proximal: 'column', correction: 'none', klCoefficient: 1 }, far);
    expect([...losses, ...slopes].every(Number.isFinite)).toBe(true);
  });

  it('names its columns and gives equal keys to equal options', () => {
    expect(policyLoss().columns).toEqual(['advantages', 'behaviorLogprobs']);
    expect(policyLoss({ proximal: 'column', klCoefficient: 1 }).columns).toEqual([
      'advantages',
      'proximalLogprobs',
      'behaviorLogprobs',
      'referenceLogprobs',
    ]);
    expect(policyLoss({ clipLow: 0.2 }).key).toBe(policyLoss().key);
    expect(policyLoss({ clipLow: 0.1 }).key).not.toBe(policyLoss().key);
  });

  it('refuses bounds of the correction that no ratio lies between', () => {
    expect(() => policyLoss({ correctionFloor: 4, correctionCap: 3 })).toThrow(
      'correctionFloor: must be at most',
    );
  });

  it('refuses to correct a gap that the ratio already contains', () => {
    expect(() => policyLoss({ proximal: 'behavior' })).toThrow('the ratio already contains the gap');
  });
});
