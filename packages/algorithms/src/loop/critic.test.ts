import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TabularBackend } from '@rlp/backprop/tabular';
import type { Loss } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { estimators } from '../estimator/estimators.ts';
import { loadRun, saveRun } from '../run.ts';
import { banditSetup, collect } from './bandit.fixture.ts';
import type { RlOptions } from './options.ts';
import { runRlTraining } from './rl.ts';

const newCritic = () =>
  new TabularBackend({ vocabularySize: 8, contextTokens: 1, learningRate: 0.1, valueHead: 'linear' });

function setUp(kind: 'shared' | 'separate', seed = 'critic') {
  const setup = banditSetup(seed, { valueHead: kind === 'shared' ? 'linear' : 'none' });
  return { ...setup, critic: kind === 'shared' ? setup.backend : newCritic(), advantages: estimators.gae() };
}

const weightsOf = async (backend: TabularBackend) =>
  [...(await backend.getWeights())].map(([name, { data }]) => [name, [...data]]);

const options = { iterations: 12, epochs: 2, minibatches: 2, critic: { clip: 0.5 } } satisfies RlOptions;

describe.each(['shared', 'separate'] as const)('a %s critic', (kind) => {
  it('learns what returns to expect while the policy learns', async () => {
    const reports = await collect(setUp(kind), options);
    const [first, last] = [reports[0]!.metrics, reports.at(-1)!.metrics];
    expect(first['value/mean']).toBe(0);
    expect(Math.abs(last['value/mean']! - last['value/returns']!)).toBeLessThan(0.35);
    expect(last['reward/mean']).toBeGreaterThan(first['reward/mean']! + 0.2);
    expect(last['loss/value']).toBeGreaterThan(0);
    expect(last['update/critic-count']).toBe(kind === 'separate' ? 4 : undefined);
  });

  it('comes to explain what the state alone decides', async () => {
    const setup = setUp(kind);
    const rewards: typeof setup.rewards = {
      computeRewards: async ({ trajectories }) =>
        trajectories.map((trajectory) => {
          const reward = String(trajectory.task.prompt).charCodeAt(0) % 3;
          return { trajectory, reward, components: {} };
        }),
    };
    const reports = await collect({ ...setup, rewards }, { iterations: 12, epochs: 2, minibatches: 2 });
    expect(reports[0]!.metrics['value/explained-variance']).toBe(0);
    expect(reports.at(-1)!.metrics['value/explained-variance']).toBeGreaterThan(0.9);
  });

  it('averages over tokens in a way of its own, if asked to', async () => {
    const setup = setUp(kind);
    const weights: number[] = [];
    const forwardBackward = setup.critic.forwardBackward.bind(setup.critic);
    setup.critic.forwardBackward = (batch, loss: Loss) => {
      for (const { mask, weights: own, columns } of batch.sequences) {
        const last = mask.length - 1;
        weights.push(own[last]! * (columns.criticFactors?.[last] ?? 1));
      }
      return forwardBackward(batch, loss);
    };
    const aggregation = { mode: 'token-sum-norm', constant: 8 } as const;
    await collect(setup, { iterations: 1, critic: { aggregation } });
    expect(weights).toHaveLength(64);
    expect(new Set(weights)).toEqual(new Set([1 / 8]));
  });

  it('resumes bit for bit', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rlp-critic-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const whole = setUp(kind);
    const reports = await collect(whole, options);
    const first = setUp(kind);
    for await (const { state } of runRlTraining(first, options)) {
      await saveRun(directory, first.backend, { kind: 'rl', state }, { critic: first.critic });
      if (state.iteration === 5) break;
    }
    const second = setUp(kind);
    const resume = await loadRun(directory, second.backend, 'rl', { critic: second.critic });
    const rest = await collect(second, { ...options, resume });
    expect(rest.map(({ metrics }) => metrics)).toEqual(reports.slice(5).map(({ metrics }) => metrics));
    expect(await weightsOf(second.backend)).toEqual(await weightsOf(whole.backend));
    expect(await weightsOf(second.critic)).toEqual(await weightsOf(whole.critic));
  });
});

describe('a critic of its own', () => {
  it('learns alone while it warms up', async () => {
    const setup = setUp('separate');
    const before = await weightsOf(setup.backend);
    const reports = await collect(setup, {
      iterations: 3,
      critic: { warmupIterations: 3, epochs: 5 },
    });
    expect(await weightsOf(setup.backend)).toEqual(before);
    expect(reports.at(-1)!.metrics).toMatchObject({ 'update/count': 0, 'update/critic-count': 5 });
    expect(reports.at(-1)!.metrics['value/mean']).not.toBe(0);
  });

  it('is asked for its loss only, and the policy for none of it', async () => {
    const setup = setUp('separate');
    const asked: (string | undefined)[] = [];
    for (const backend of [setup.backend, setup.critic]) {
      const forwardBackward = backend.forwardBackward.bind(backend);
      backend.forwardBackward = (batch, loss: Loss) => {
        asked.push(loss.values);
        return forwardBackward(batch, loss);
      };
    }
    await collect(setup, { iterations: 1 });
    expect(asked).toEqual(['only', undefined]);
  });
});

describe('a loop with a critic', () => {
  it('scores everything at once, before the first update', async () => {
    const setup = setUp('shared');
    const calls: string[] = [];
    const { backend } = setup;
    for (const name of ['values', 'logprobs', 'forwardBackward'] as const) {
      const method = backend[name].bind(backend) as (...call: unknown[]) => unknown;
      const counted = (...call: unknown[]) => {
        calls.push(name);
        return method(...call);
      };
      Object.assign(backend, { [name]: counted });
    }
    await collect(setup, { iterations: 1, minibatches: 2, rewardKl: { coefficient: 0.1 } });
    expect(calls).toEqual(['logprobs', 'logprobs', 'values', 'forwardBackward', 'forwardBackward']);
  });

  it('says what is missing before anything is sampled', async () => {
    const setup = setUp('shared');
    const { critic, ...without } = setup;
    await expect(collect(without, {})).rejects.toThrow('reads values: pass a `critic`');
    await expect(collect({ ...without, advantages: undefined }, { critic: { clip: 1 } })).rejects.toThrow(
      'runRlTraining: the option `critic` has no effect without a critic',
    );
    const { advantages, ...grouped } = setup;
    await expect(collect(grouped, { iterations: 1 })).rejects.toThrow('gives no returns for it to learn');
    await expect(collect(setup, { critic: { warmupIterations: 1 } })).rejects.toThrow(
      'needs a critic of its own',
    );
    await expect(collect({ ...banditSetup('greedy'), advantages: estimators.remax() }, {})).rejects.toThrow(
      'pass `greedyRollouts`',
    );
    expect(setup.tasks.cursor).toBeLessThanOrEqual(8);
  });

  it('says so when the backend has no value head', async () => {
    const setup = banditSetup('headless');
    const headless = { ...setup, critic: setup.backend, advantages: estimators.gae() };
    await expect(collect(headless, { iterations: 1 })).rejects.toThrow(/value head/);
  });
});
