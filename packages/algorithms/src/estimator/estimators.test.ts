import type { ScoredTrajectory } from '@rlp/core';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { groupRelativeAdvantages } from '../advantage/group-relative.ts';
import { optimalTokenBaseline } from '../advantage/optimal-token-baseline.ts';
import { REINFORCEAlgorithm } from '../algorithm/reinforce.ts';
import { tokenEstimator } from '../loop/estimate.ts';
import type { AdvantageEstimator, ScoredGroup, TokenBatch } from '../loop/protocol.ts';
import { estimators } from './estimators.ts';

interface Member {
  readonly reward: number | null;
  /** Tokens sampled in each step. */
  readonly lengths?: readonly number[];
  readonly components?: Readonly<Record<string, number>>;
  readonly states?: readonly string[];
}

function groupOf(index: number, members: readonly Member[]): ScoredGroup {
  const task = { id: `task-${index}`, prompt: '', metadata: undefined };
  const scored = members.map(
    ({ reward, lengths = [2], components = {}, states }, member): ScoredTrajectory => {
      const steps = lengths.map((length, step) => ({
        promptTokens: [0],
        tokens: new Array<number>(length).fill(1),
        behaviorLogprobs: new Array<number>(length).fill(-1),
        text: '',
        stopReason: 'stop' as const,
        ...(states && { stateKey: states[step]! }),
      }));
      const id = `t-${index}-${member}`;
      const trajectory = { id, task, steps, messages: [], response: '', status: 'completed' as const };
      return { trajectory: { ...trajectory, policyVersion: 0 }, reward, components };
    },
  );
  return { group: { id: `g-${index}`, task, trajectories: scored.map((s) => s.trajectory) }, scored };
}

/** Rows of all tokens, one after the other, with the trajectory's reward on the last. */
function batchOf(groups: readonly ScoredGroup[], more: Partial<TokenBatch> = {}): TokenBatch {
  const owners = groups.flatMap(({ scored }, group) =>
    scored.flatMap((score, member) => (score.reward === null ? [] : [{ group, member, scored: score }])),
  );
  const steps = owners.map(({ scored }) =>
    Float64Array.from(scored.trajectory.steps.flatMap(({ tokens }, index) => tokens.map(() => index))),
  );
  const ones = steps.map((row) => new Float64Array(row.length).fill(1));
  const rewards = owners.map(({ scored }, b) =>
    Float64Array.from(steps[b]!, (_, t) => (t === steps[b]!.length - 1 ? scored.reward! : 0)),
  );
  return { groups, owners, steps, rewards, masks: ones, tokens: ones, behaviorLogprobs: ones, ...more };
}

const rowsOf = (estimator: AdvantageEstimator, batch: TokenBatch) =>
  tokenEstimator(estimator)
    .estimate(batch)
    .advantages.map((row) => Array.from(row));

const near = (rows: readonly (readonly number[])[], expected: readonly (readonly number[])[]) => {
  expect(rows.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  for (const [b, row] of expected.entries()) {
    for (const [t, value] of row.entries()) expect(rows[b]![t]).toBeCloseTo(value, 6);
  }
};

const rewards = [1, 0, 0.25];
const lengths = [1, 2, 3];
const group = groupOf(
  0,
  rewards.map((reward, g) => ({ reward, lengths: [lengths[g]!] })),
);

describe('estimators that compare trajectories of a group', () => {
  it.each([
    ['grpo', estimators.grpo(), {}],
    ['drGrpo', estimators.drGrpo(), { scale: 'none' }],
    ['rloo', estimators.rloo(), { baseline: 'leave-one-out', scale: 'none' }],
    ['opo', estimators.opo(), { baseline: 'length-weighted-mean', scale: 'none' }],
    ['gpg', estimators.gpg(), { scale: 'nonzero-share' }],
    ['maxRl', estimators.maxRl(), { scale: 'group-mean' }],
    ['passAtK', estimators.passAtK(), { baseline: 'second-best' }],
    ['groupRelative', estimators.groupRelative({ std: 'population' }), { std: 'population' }],
  ] as const)('%s is groupRelativeAdvantages on every token', (_, estimator, options) => {
    const [expected] = groupRelativeAdvantages([rewards], options, { lengths: [lengths] });
    near(
      rowsOf(estimator, batchOf([group])),
      expected!.map((advantage, g) => new Array<number>(lengths[g]!).fill(advantage)),
    );
  });

  it('gdpo standardises every component in its group', () => {
    const members = [
      { reward: 1, components: { accuracy: 1, style: 10 } },
      { reward: 0, components: { accuracy: 0, style: 30 } },
    ];
    // Each component gives ±1/√2; with weights 1 and 0.5 they leave ±0.5/√2, which the batch scales to ±1/√2.
    const rows = rowsOf(
      estimators.gdpo({ weights: { accuracy: 1, style: 0.5 } }),
      batchOf([groupOf(0, members)]),
    );
    for (const value of rows[0]!) expect(value).toBeCloseTo(Math.SQRT1_2, 4);
    for (const value of rows[1]!) expect(value).toBeCloseTo(-Math.SQRT1_2, 4);
  });

  it('gigpo gives each step its own, by hand', () => {
    const members = [
      { reward: 0, lengths: [1, 2, 1], states: ['start', 'left', 'start'] },
      { reward: 1, lengths: [1, 1], states: ['start', 'right'] },
      { reward: null, lengths: [1], states: ['start'] },
    ];
    // Episodes: ∓0.5. Returns with γ = 1/2: 0, 0, 0 and 0.5, 1. From the start: 0, 0, 0.5, so −1/6, −1/6, 1/3.
    const rows = rowsOf(estimators.gigpo({ scale: 'none', discount: 0.5 }), batchOf([groupOf(0, members)]));
    near(rows, [
      [-0.5 - 1 / 6, -0.5, -0.5, -0.5 - 1 / 6],
      [0.5 + 1 / 3, 0.5],
    ]);
    const mixed = estimators.gigpo({ scale: 'none', discount: 0.5, joint: 'mix', weight: 0.25 });
    near(rowsOf(mixed, batchOf([groupOf(0, members)])), [
      [-0.125 - 0.125, -0.125, -0.125, -0.125 - 0.125],
      [0.125 + 0.25, 0.125],
    ]);
    const episodes = estimators.gigpo({ scale: 'none', discount: 0.5, outcome: 'episode' });
    near(rowsOf(episodes, batchOf([groupOf(0, members)])), [
      [-0.5, -0.5, -0.5, -0.5],
      [0.5, 0.5],
    ]);
  });

  it('gigpo names the step that has no state', () => {
    expect(() => rowsOf(estimators.gigpo(), batchOf([group]))).toThrow(
      'step 0 of trajectory "t-0-0" has no stateKey',
    );
  });
});

describe('estimators of returns', () => {
  const two = [group, groupOf(1, [{ reward: 3, lengths: [2] }])];

  it('reinforce subtracts nothing, the mean of the batch, or that of the group', () => {
    const totals = (baseline: 'none' | 'batch-mean' | 'group-mean') =>
      rowsOf(estimators.reinforce({ baseline }), batchOf(two)).map((row) => row[0]);
    expect(totals('none')).toEqual([1, 0, 0.25, 3]);
    expect(totals('batch-mean')).toEqual([-0.0625, -1.0625, -0.8125, 1.9375]);
    near([totals('group-mean') as number[]], [[1 - 1.25 / 3, -1.25 / 3, 0.25 - 1.25 / 3, 0]]);
  });

  it('reinforcePlusPlus has mean 0 and deviation 1 over all tokens', () => {
    for (const baseline of ['none', 'group-mean'] as const) {
      const flat = rowsOf(estimators.reinforcePlusPlus({ baseline }), batchOf(two)).flat();
      const mean = flat.reduce((sum, x) => sum + x, 0) / flat.length;
      const variance = flat.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (flat.length - 1);
      expect(mean).toBeCloseTo(0, 12);
      expect(variance).toBeCloseTo(1, 5);
    }
  });

  it("remax subtracts the greedy trajectory's reward, and learns nothing without one", () => {
    const estimator = estimators.remax();
    expect(estimator.needs).toEqual(['greedyRewards']);
    const rows = rowsOf(estimator, batchOf(two, { greedyRewards: [0.5, null] }));
    expect(rows.map((row) => row[0])).toEqual([0.5, -0.5, -0.25, 0]);
  });

  it('optimalTokenBaseline takes what it needs from logprobs and entropies', () => {
    const fill = (value: number) => lengths.map((length) => new Float64Array(length).fill(value));
    const proximalLogprobs = fill(Math.log(0.25));
    const batch = batchOf([group], { proximalLogprobs, entropies: fill(Math.log(4)) });
    // Uniform on four tokens: Σ π² is 1/4 exactly.
    const { advantages } = optimalTokenBaseline({
      rewards: batch.rewards,
      masks: batch.masks,
      groups: [0, 0, 0],
      logprobs: proximalLogprobs,
      squaredProbabilitySums: fill(0.25),
    });
    near(
      rowsOf(estimators.optimalTokenBaseline(), batch),
      advantages.map((row) => [...row]),
    );
  });
});

describe('estimators with a critic', () => {
  const members = [
    { reward: 1, lengths: [2, 1] },
    { reward: 0, lengths: [1] },
  ];
  const values = [[0.5, 0.25, 0.75], [0.5]];
  const batch = (more: Partial<TokenBatch> = {}) => batchOf([groupOf(0, members)], { values, ...more });

  it('gae has the returns of gae, whatever becomes of the advantages', () => {
    // γ = λ = 1: returns are rewards to come, advantages those less the value.
    const options = { discount: 1, lambda: 1 };
    const plain = estimators.gae({ ...options, whitening: 'none' });
    near(rowsOf(plain, batch()), [[0.5, 0.75, 0.25], [-0.5]]);
    const { advantages, returns } = estimators.gae(options).estimate(batch());
    near(returns as number[][], [[1, 1, 1], [0]]);
    // Mean 0.25, squared distances 0.0625, 0.25, 0 and 0.5625: unbiased deviation √(0.875 / 3).
    const deviation = Math.sqrt(0.875 / 3);
    near(advantages as number[][], [[0.25 / deviation, 0.5 / deviation, 0], [-0.75 / deviation]]);
    expect(plain.needs).toEqual(['values']);
  });

  it('gae goes on after the last token only where a limit cut it, and only if asked to', () => {
    const cut = groupOf(0, members);
    Object.assign(cut.scored[1]!.trajectory, { status: 'truncated' });
    const last = (truncation: 'terminal' | 'bootstrap') => {
      const estimator = estimators.gae({ discount: 0.5, lambda: 1, whitening: 'none', truncation });
      return rowsOf(estimator, batchOf([cut], { values, finalValues: Float64Array.of(8, 4) })).map((row) =>
        row.at(-1),
      );
    };
    expect(last('terminal')).toEqual([0.25, -0.5]);
    expect(last('bootstrap')).toEqual([0.25, -0.5 + 0.5 * 4]);
  });

  it('whitens over the trained tokens, or over all', () => {
    const masks = [[1, 0, 1], [1]];
    const whitened = (over: 'trained' | 'all') => {
      const estimator = estimators.gae({ discount: 1, lambda: 1, outside: 'recursion', whitening: { over } });
      return rowsOf(estimator, batch({ masks }));
    };
    const meanOf = (rows: readonly (readonly number[])[]) => {
      const trained = rows.flatMap((row, b) => row.filter((_, t) => masks[b]![t] === 1));
      return trained.reduce((sum, x) => sum + x, 0) / trained.length;
    };
    expect(meanOf(whitened('trained'))).toBeCloseTo(0, 9);
    expect(Math.abs(meanOf(whitened('all')))).toBeGreaterThan(0.01);
  });

  it('bilevelGae carries credit from turn to turn, each of which ends with its last trained token', () => {
    const one = { turnDiscount: 0.5, discount: 1, lambda: 1 };
    // Turn ends have the values 0.25 and 0.75: returns 0.5 · 1 and 1, which the first token of turn one sees undiscounted.
    near(rowsOf(estimators.bilevelGae(one), batch()), [[0.5 - 0.5, 0.5 - 0.25, 0.25], [-0.5]]);
    const masks = [[1, 0, 1], [1]];
    near(rowsOf(estimators.bilevelGae(one), batch({ masks })), [[0.5 - 0.5, 0, 0.25], [-0.5]]);
    expect(estimators.bilevelGae().needs).toEqual(['values']);
  });
});

describe('estimators that move advantages between tokens', () => {
  it('entropyWeighted leaves the mean where no token would turn negative', () => {
    const entropies = [[0.5], [1, 3], [2, 2, 2]];
    const weighted = estimators.entropyWeighted(estimators.drGrpo(), { strength: 0.5 });
    const rows = rowsOf(weighted, batchOf([group], { entropies }));
    const plain = rowsOf(estimators.drGrpo(), batchOf([group]));
    near(rows, [plain[0]!, [0.75 * plain[1]![0]!, 1.25 * plain[1]![1]!], plain[2]!]);
    expect(weighted.needs).toEqual(['entropies']);
  });

  it('planningAmplified amplifies the tokens of a phrase', () => {
    const tokenizer = characterTokenizer('wait go', { end: '.' });
    const tokens = [[0], [0, 1], tokenizer.encode('go ')].map((row) => Float64Array.from(row));
    const amplified = estimators.planningAmplified(estimators.drGrpo(), {
      amplification: 1,
      phrases: ['go'],
      textOf: (token) => (tokenizer.decode([token]) === 'g' ? 'go' : '-'),
    });
    const rows = rowsOf(amplified, batchOf([group], { tokens }));
    const plain = rowsOf(estimators.drGrpo(), batchOf([group]));
    near(rows, [plain[0]!, plain[1]!, [0, plain[2]![1]!, plain[2]![2]!]]);
    expect(amplified.needs).toEqual([]);
    const needy = {
      needs: ['values'],
      estimate: ({ rewards }: TokenBatch) => ({ advantages: rewards }),
    } as const;
    expect(estimators.entropyWeighted(needy, { strength: 1 }).needs).toEqual(['values', 'entropies']);
  });

  it('entropyShaped whitens successes and failures apart', () => {
    const entropies = [[0.5], [1, 3], [2, 2, 2]];
    const rows = rowsOf(estimators.entropyShaped(), batchOf([group], { entropies }));
    near([[...rows[0]!]], [[0]]);
    const failures = [...rows[1]!, ...rows[2]!];
    expect(failures.reduce((sum, x) => sum + x, 0)).toBeCloseTo(0, 10);
  });
});

it('options are checked when an estimator is made', () => {
  const wrong = [
    () => estimators.grpo({ epsilon: -1 }),
    () => estimators.gae({ lambda: 2 }),
    () => estimators.gae({ whitening: { epsilon: -1 } }),
    () => estimators.bilevelGae({ turnDiscount: -1 }),
    () => estimators.reinforce({ baseline: 'median' as never }),
    () => estimators.reinforce({ discount: 2 }),
    () => estimators.gae({ truncation: 'bootstrapped' as never }),
    () => estimators.gigpo({ outcome: 'last' as never }),
    () => new REINFORCEAlgorithm({} as never, { variant: 'plusplus' as never }),
    () => estimators.remax({ discount: 2 }),
    () => estimators.gigpo({ weight: -1 }),
    () => estimators.gigpo({ anchors: { threshold: 2 } }),
    () => estimators.optimalTokenBaseline({ epsilon: -1 }),
    () => estimators.gdpo({ weights: { accuracy: Number.NaN } }),
  ];
  for (const make of wrong) expect(make).toThrow(/^\w[\w.]+: invalid options/);
  const uncalled = estimators.grpo as (groups: never) => unknown;
  expect(() => uncalled([] as never)).toThrow('call the estimator, as in `advantages: estimators.grpo()`');
  const planning = { phrases: [], textOf: String, amplification: Number.NaN };
  expect(() => estimators.planningAmplified(estimators.grpo(), planning)).toThrow('amplification must be');
});
