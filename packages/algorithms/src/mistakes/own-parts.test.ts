import type { TrajectoryGroup } from '@rlp/core';
import { RolloutManager } from '@rlp/rollout';
import { describe, expect, it } from 'vitest';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import type { GroupCollector } from '../loop/protocol.ts';
import { describeMistakes, smallOptions, smallRun, train } from './mistakes.fixture.ts';

const judging = (computeRewards: (group: TrajectoryGroup) => unknown) =>
  train({ rewards: { computeRewards: async (group: TrajectoryGroup) => computeRewards(group) } });
const estimating = (advantages: unknown) => train({}, { ...smallOptions, advantages });
const losing = (compute: unknown, parts: object = {}) =>
  train({ loss: { key: 'own', columns: ['advantages'], compute, ...parts } });
/** A run whose backend or sampler has other methods. */
function changed(part: 'backend' | 'sampler', methods: object) {
  const run = smallRun();
  Object.assign(run[part], methods);
  return train(run);
}
const pass = { loss: 0, metrics: {}, logprobs: [], tokens: { trained: 1, total: 1 } };
const step = { gradientNorm: 1, learningRate: 1, updates: 1 };
/** A run whose collector samples from another model. */
function foreignTokens() {
  const { environment, tokenizer, ...rest } = smallRun();
  const manager = new RolloutManager({ environment, tokenizer, sampler: rest.sampler }, smallOptions.rollout);
  const rollouts: GroupCollector = {
    options: manager.options,
    async *collectGroups(tasks, { iteration }) {
      for await (const group of manager.collectGroups(tasks as never, { iteration })) {
        yield {
          ...group,
          trajectories: group.trajectories.map((trajectory) => ({
            ...trajectory,
            steps: trajectory.steps.map((each) => ({ ...each, tokens: each.tokens.map(() => 900) })),
          })),
        };
      }
    },
  };
  const algorithm = new GRPOAlgorithm({ ...rest, rollouts } as never, { tasksPerIteration: 2 });
  return algorithm.train({ iterations: 1, print: 'none' });
}
const state = { prompt: 'a', response: '', stepCount: 0 };
const scored = ({ trajectories }: TrajectoryGroup, member: number) => ({
  trajectory: trajectories[member],
  reward: member,
  components: {},
});

describe('a reward computer that somebody wrote', () => {
  describeMistakes([
    [
      'returns nothing',
      () => judging(() => undefined),
      /must return one score per trajectory, got undefined for 4/,
    ],
    [
      'leaves the trajectories out',
      () => judging(({ trajectories }) => trajectories.map(() => ({ reward: 1 }))),
      /must return \{ trajectory, reward, components \} for each trajectory, got an object with reward at 0/,
    ],
    [
      'returns one trajectory for all',
      () => judging((group) => group.trajectories.map(() => scored(group, 0))),
      /must return each trajectory of the group once, got "0\/.*\/0" at 1/,
    ],
  ]);
});

describe('an estimator that somebody wrote', () => {
  describeMistakes([
    [
      'returns nothing',
      () => estimating(() => {}),
      /advantages: expected a list of 2 groups, each with one advantage per trajectory, got undefined/,
    ],
    ['is asynchronous', () => estimating(async () => []), /advantages: expected a list .* got a promise/],
    [
      'returns one list for all groups',
      () => estimating(() => [1, 2]),
      /advantages: expected a list .* got 1 as one of them/,
    ],
    ['leaves a group out', () => estimating(() => [[1, 2, 3, 4]]), /got a list of 1/],
    [
      'sees tokens and returns the rows themselves',
      () => estimating({ estimate: ({ rewards }: { rewards: unknown }) => rewards }),
      /expected the estimator to return \{ advantages \}, got a list/,
    ],
    [
      'needs what does not exist',
      () => estimating({ needs: ['entropy'], estimate: () => ({}) }),
      /advantages: needs: expected values, .*, entropies, greedyRewards, got entropy/,
    ],
  ]);
});

type Ops = Record<string, (...operands: unknown[]) => unknown>;
describe('a loss that somebody wrote', () => {
  describeMistakes([
    [
      'multiplies by a number',
      () =>
        losing((ops: Ops, { logprobs }: { logprobs: object }) => ({ tokenLosses: ops.mul!(logprobs, -1) })),
      /the loss "own" calls ops\.mul with -1, expected a tensor; write ops\.constant\(-1\)/,
    ],
    [
      'reads entropies that it did not ask for',
      () =>
        losing((ops: Ops, { entropies }: { entropies: object }) => ({ tokenLosses: ops.neg!(entropies) })),
      /ops\.neg with undefined.*declares entropies: 'needed'/,
    ],
    [
      'computes with numbers',
      () => losing(() => ({ tokenLosses: Number.NaN })),
      /returned NaN as tokenLosses/,
    ],
    ['has no key', () => losing(() => ({}), { key: undefined }), /loss: must have a key/],
    ['is a function', () => train({ loss: () => 1 }), /loss: must be a loss; defineLoss/],
  ]);
});

describe('a backend, sampler, environment or logger that somebody wrote', () => {
  describeMistakes([
    [
      'has no publish',
      () => changed('backend', { publish: undefined }),
      /backend: must have the methods .*, got none named publish; implement TrainingBackend/,
    ],
    [
      'resolves with no gradient norm',
      () => changed('backend', { optimStep: async () => undefined }),
      /backend\.optimStep: expected to resolve with \{ gradientNorm, learningRate, updates \}, got undefined/,
    ],
    [
      'publishes nothing',
      () => changed('backend', { publish: async () => ({}) }),
      /backend\.publish: expected to resolve with \{ kind, version \}, got an object with no fields/,
    ],
    [
      'has a loss that is not a number',
      () => changed('backend', { forwardBackward: async () => ({ ...pass, loss: Number.NaN }) }),
      /backend\.forwardBackward: expected a finite number as loss, got NaN; lower the learning rate/,
    ],
    [
      'has a gradient that is not finite',
      () => changed('backend', { optimStep: async () => ({ ...step, gradientNorm: Infinity }) }),
      /backend\.optimStep: expected a finite number as gradientNorm, got Infinity/,
    ],
    [
      'samples tokens that the backend does not have',
      foreignTokens,
      /trajectory 0\/prompt-1\/0: token 900 at position 1 is outside the vocabulary of the backend, which has \d+ tokens/,
    ],
    [
      'names its forms of publication as text',
      () => changed('backend', { publishes: 'shared' }),
      /expected the backend's `publishes` to be a list such as \['shared'\], got "shared"/,
    ],
    [
      'takes over no weights',
      () => changed('sampler', { updateWeights: undefined }),
      /sampler: must have the methods sample, updateWeights, got none named updateWeights/,
    ],
    [
      'has the methods of Gym',
      () => train({ environment: { reset: () => state, step: () => [state, 0, true, {}] } }),
      /environment: .*got none named buildPrompt, updateState, isTerminal; extend BaseEnvironment/,
    ],
    [
      'is console.log',
      () => train({ logger: () => {} }),
      /logger: must be a logger, an object with log\(step, metrics\) and close\(\)/,
    ],
  ]);
});

it.each([
  [
    'throws',
    () => {
      throw new Error('the webhook is down');
    },
  ],
  ['rejects', () => Promise.reject(new Error('the webhook is down'))],
])('trains on with a logger that %s, and notes it once for each method', async (_, fail) => {
  const logger = { log: fail, note: fail, close: async () => {} };
  const notes: string[] = [];
  const algorithm = new GRPOAlgorithm(smallRun({ logger }) as never, smallOptions);
  for await (const report of algorithm.run({ iterations: 3 })) notes.push(...report.notes);
  expect(notes.filter((note) => note.includes('webhook'))).toEqual([
    'logger.log: the webhook is down; further failures are only counted',
    'logger.note: the webhook is down; further failures are only counted',
  ]);
});
