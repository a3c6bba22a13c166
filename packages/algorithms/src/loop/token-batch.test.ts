import type { ScoredTrajectory, Step } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimators } from '../estimator/estimators.ts';
import { tokenEstimator } from './estimate.ts';
import { resolveRlOptions } from './options.ts';
import type { ScoredGroup } from './protocol.ts';
import { tokenBatch } from './token-batch.ts';
import { gatherRows, scatterRows, trajectoryRows } from './trajectory-rows.ts';

const step = (promptTokens: number[], tokens: number[], reward?: number): Step => ({
  promptTokens,
  tokens,
  behaviorLogprobs: tokens.map(() => -1),
  text: '',
  stopReason: 'stop',
  ...(reward !== undefined && { reward }),
});

/** Two turns in one sequence with a token of the environment between them, and a third whose history was rewritten. */
const dialogue = [step([1, 2], [3, 4], 0.5), step([1, 2, 3, 4, 9], [5]), step([7, 8], [6, 0])];

function groupOf(
  status: 'completed' | 'truncated',
  reward: number | null = 1,
  steps: readonly Step[] = dialogue,
): ScoredGroup {
  const task = { id: 'task', prompt: '', metadata: undefined };
  const trajectory = { id: 't', task, steps, messages: [], response: '', status, policyVersion: 1 };
  const scored: ScoredTrajectory = { trajectory, reward, components: {} };
  return { group: { id: 'g', task, trajectories: [trajectory] }, scored: [scored] };
}

/** Values of the states before each token, and after all of them, of both sequences. */
const values = [
  [0, 9, 0.2, 0.3, 0.4, 0.5, 8],
  [0, 9, 0.6, 0.7, 0.9],
];

function batchOf(status: 'completed' | 'truncated', options = {}, steps: readonly Step[] = dialogue) {
  const resolved = resolveRlOptions(options);
  const groups = [groupOf(status, 1, steps)];
  const rows = trajectoryRows(groups, resolved);
  const parts = { groups, rows, scores: steps === dialogue ? { values } : {}, klCoefficient: 0 };
  return { rows, ...tokenBatch(parts, resolved) };
}

const near = (row: ArrayLike<number>, expected: readonly number[]) => {
  expect(row.length).toBe(expected.length);
  for (const [t, value] of expected.entries()) expect(row[t]).toBeCloseTo(value, 12);
};

describe('the rows of a trajectory', () => {
  it('hold the answered parts of its sequences, one after the other', () => {
    const { batch } = batchOf('completed');
    near(batch.tokens[0]!, [3, 4, 9, 5, 6, 0]);
    near(batch.masks[0]!, [1, 1, 0, 1, 1, 1]);
    near(batch.steps[0]!, [0, 0, -1, 1, 2, 2]);
    near(batch.behaviorLogprobs[0]!, [-1, -1, 0, -1, -1, -1]);
    near(batch.values![0]!, [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
    near(batch.finalValues!, [0.9]);
  });

  it("have a step's reward on its last token and the trajectory's on the last of all", () => {
    near(batchOf('completed').batch.rewards[0]!, [0, 0.5, 0, 0, 0, 1]);
  });

  it('add up rewards of steps on one token, that of a step without trained tokens on the token before', () => {
    const silent = [step([1], [2, 3], 0.5), step([1, 2, 3, 9], [], 0.25), step([1, 2, 3, 9, 9], [4], 2)];
    near(batchOf('completed', {}, silent).batch.rewards[0]!, [0, 0.75, 0, 0, 3]);
    const first = [step([1], [], 0.25), step([1, 9], [4], 2)];
    near(batchOf('completed', {}, first).batch.rewards[0]!, [3.25]);
  });

  it('carry GAE across turns and sequences, past what the environment said', () => {
    const { batch, rows } = batchOf('completed');
    const { advantages, returns } = estimators.gae({ lambda: 0.5, whitening: 'none' }).estimate(batch);
    // δ = [0.1, 0.7, –, 0.1, 0.1, 0.3] and A_t = δ_t + A_{t+1} / 2, by hand.
    near(advantages[0]!, [0.50625, 0.8125, 0, 0.225, 0.25, 0.3]);
    near(returns![0]!, [0.70625, 1.1125, 0, 0.725, 0.85, 1]);
    const [first, second] = scatterRows('advantages', rows, advantages);
    near(first!, [0, 0, 0.50625, 0.8125, 0, 0.225]);
    near(second!, [0, 0, 0.25, 0.3]);
  });

  it('end in the value of their last state only where a limit cut them, and only if asked to', () => {
    const last = (status: 'completed' | 'truncated', truncation: 'terminal' | 'bootstrap') => {
      const { batch } = batchOf(status);
      return estimators.gae({ truncation, whitening: 'none' }).estimate(batch).advantages[0]![5];
    };
    expect(last('truncated', 'terminal')).toBeCloseTo(0.3, 12);
    expect(last('completed', 'bootstrap')).toBeCloseTo(0.3, 12);
    expect(last('truncated', 'bootstrap')).toBeCloseTo(1.2, 12);
  });

  it('carry returns across turns and sequences', () => {
    const { batch } = batchOf('completed');
    const { advantages } = estimators.reinforce({ discount: 0.5 }).estimate(batch);
    // 1, 1/2, 1/4 back from the end; 0.5 + 1/8 and half of it.
    near(advantages[0]!, [0.3125, 0.625, 0, 0.25, 0.5, 1]);
  });

  it('give every token the advantage of its step', () => {
    const { batch } = batchOf('completed');
    const { advantages } = tokenEstimator(() => [[[10, 20, 30]]]).estimate(batch);
    near(advantages[0]!, [10, 10, 0, 20, 30, 30]);
  });

  it('refuse advantages that are not one per step', () => {
    const { batch } = batchOf('completed');
    expect(() => tokenEstimator(() => [[[1, 2]]]).estimate(batch)).toThrow(
      'made 3 steps and got 2 advantages',
    );
    expect(() => tokenEstimator(() => [[]]).estimate(batch)).toThrow('group 0 has none for its member 0');
  });

  it('train nothing of a truncated trajectory that is masked, and leave unscored ones out', () => {
    const { batch, rows } = batchOf('truncated', { truncatedTrajectories: 'mask' });
    near(batch.masks[0]!, [0, 0, 0, 0, 0, 0]);
    expect(rows.sequences.every(({ mask }) => mask.every((counts) => counts === 0))).toBe(true);
    expect(trajectoryRows([groupOf('completed', null)], resolveRlOptions()).owners).toEqual([]);
  });

  it('are refused with another shape, or a number that is not finite where it is trained', () => {
    const { rows } = batchOf('completed');
    expect(() => scatterRows('advantages', rows, [])).toThrow('expected 1 rows');
    expect(() => scatterRows('advantages', rows, [[1]])).toThrow('must hold 6 tokens, got 1');
    expect(() => scatterRows('advantages', rows, [[1, 1, Number.NaN, 1, 1, 1]])).not.toThrow();
    expect(() => scatterRows('advantages', rows, [[1, 1, 1, Number.NaN, 1, 1]])).toThrow(
      'must be finite, got NaN',
    );
  });
});

describe('the KL in the reward', () => {
  const ofPolicy = (logprob: number) =>
    [6, 4].map((length) => ({
      logprobs: new Float32Array(length).fill(logprob),
      entropies: new Float32Array(length),
    }));

  function penalized(place: 'trajectory' | 'token') {
    const options = resolveRlOptions({ rewardKl: { coefficient: 1, place } });
    const groups = [groupOf('completed')];
    const rows = trajectoryRows(groups, options);
    const scores = { proximal: ofPolicy(-1), reference: ofPolicy(-1.5) };
    return { rows, ...tokenBatch({ groups, rows, scores, klCoefficient: 0.2 }, options) };
  }

  it('is off every trained token', () => {
    const { batch, kl } = penalized('trajectory');
    near(kl![0]!, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
    near(batch.rewards[0]!, [-0.1, 0.4, 0, -0.1, -0.1, 0.9]);
  });

  it("is off the trajectory's reward before groups are compared, or off the tokens' advantages after", () => {
    const { batch } = penalized('trajectory');
    const seen: (number | null)[] = [];
    const estimator = tokenEstimator((groups) => {
      seen.push(...groups.map(({ scored }) => scored[0]!.reward));
      return [[3]];
    });
    near(estimator.estimate(batch).advantages[0]!, [3, 3, 0, 3, 3, 3]);
    expect(seen[0]).toBeCloseTo(0.5, 12);
    const after = tokenEstimator(() => [[3]], 'token').estimate(batch);
    near(after.advantages[0]!, [2.5, 2.6, 0, 2.7, 2.8, 2.9]);
  });
});

describe('what stands outside the mask', () => {
  it.each([
    ['gae', estimators.gae()],
    ['bilevelGae', estimators.bilevelGae()],
    ['reinforce', estimators.reinforce({ discount: 0.9, baseline: 'batch-mean' })],
    ['reinforcePlusPlus', estimators.reinforcePlusPlus()],
    ['optimalTokenBaseline', estimators.optimalTokenBaseline()],
    ['entropyWeighted', estimators.entropyWeighted(estimators.reinforce(), { strength: 0.5 })],
    ['entropyShaped', estimators.entropyShaped()],
  ])('cannot influence %s', (_, estimator) => {
    const options = resolveRlOptions();
    const groups = [groupOf('completed'), groupOf('truncated', 0.25)];
    const rows = trajectoryRows(groups, options);
    const number = fc.double({ min: -5, max: 5, noNaN: true });
    const noise = fc.array(number, { minLength: 22, maxLength: 22 });
    fc.assert(
      fc.property(noise, noise, (one, other) => {
        const estimate = (random: readonly number[]) => {
          let at = 0;
          const draw = () => random[at++ % random.length]!;
          const fill = (base: number) =>
            rows.sequences.map(({ mask }) =>
              Float32Array.from(mask, (counts, t) => (counts === 0 ? draw() : base + t / 10)),
            );
          const scores = {
            values: fill(0.1).map((row) => Float32Array.from([...row, 0])),
            proximal: fill(-0.9).map((logprobs, n) => ({
              logprobs: logprobs.map((x) => Math.min(0, x)),
              entropies: fill(0.3)[n]!.map(Math.abs),
            })),
          };
          const { batch } = tokenBatch({ groups, rows, scores, klCoefficient: 0 }, options);
          const { advantages, returns = [] } = estimator.estimate(batch);
          return [advantages, returns].map((estimated) =>
            estimated.length === 0 ? [] : scatterRows('estimate', rows, estimated).map((row) => [...row]),
          );
        };
        expect(estimate(one)).toEqual(estimate(other));
      }),
      { numRuns: 20 },
    );
  });
});

it('gatherRows and scatterRows are each the way back from the other where the mask is 1', () => {
  const { rows } = batchOf('completed');
  const ofSequences = rows.sequences.map(({ mask }) =>
    Float64Array.from(mask, (counts, t) => counts * (t + 1)),
  );
  expect(scatterRows('round trip', rows, gatherRows(rows, ofSequences))).toEqual(ofSequences);
});
