import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { State, Step, Trajectory } from '@rlp/core';
import { RolloutManager } from '@rlp/rollout';
import { describe, expect, it } from 'vitest';
import { loadRun, saveRun } from '../run.ts';
import { algorithmSetup, banditSetup, forAlgorithm, forLoop } from './bandit.fixture.ts';
import type { RlReport } from './protocol.ts';
import { runRlTraining } from './rl.ts';

const temporary = () => mkdtemp(join(tmpdir(), 'rlp-run-'));

async function collect(run: AsyncIterable<RlReport<unknown>>): Promise<RlReport<unknown>[]> {
  const reports: RlReport<unknown>[] = [];
  for await (const report of run) reports.push(report);
  return reports;
}

async function logitsOf({ backend }: ReturnType<typeof banditSetup>): Promise<number[]> {
  return [...(await backend.getWeights()).get('logits')!.data];
}

/** What an iteration did, without version numbers: a resumed run publishes once more. */
/** A step without its version: loading weights is a publication too, so a resumed run counts one more. */
const sampled = ({ policyVersion: _, ...step }: Step) => step;

const substance = ({ iteration, metrics, state, groups }: RlReport<unknown>) => ({
  iteration,
  metrics,
  state,
  samples: groups.map(({ scored }) =>
    scored.map(({ trajectory: { id, steps }, reward }) => [id, steps.map(sampled), reward]),
  ),
});

describe('runRlTraining', () => {
  // A uniform policy is right once in 8 (12.5 %). Learning nothing, 384 answers of the last six iterations would have a
  // standard deviation of 1.7 %; the bound of 90 % lies 45 of them away, so chance does not pass it.
  // learning.test.ts has every algorithm on five seeds.
  it('solves a bandit of six letters', async () => {
    const setup = banditSetup('1');
    const reports = await collect(runRlTraining(setup, { seed: '1', iterations: 40, tasksPerIteration: 8 }));
    const accuracy = reports.map(({ metrics }) => metrics['reward/mean']!);
    const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;
    expect(accuracy[0]).toBeLessThan(0.35);
    expect(mean(accuracy.slice(-6))).toBeGreaterThan(0.9);
  });

  it('learns with several updates per iteration, KL to a reference and entropy', async () => {
    const setup = banditSetup('kl');
    const reports = await collect(
      runRlTraining(setup, {
        iterations: 12,
        epochs: 2,
        minibatches: 2,
        loss: { klCoefficient: 0.01, entropyCoefficient: 0.01 },
        aggregation: 'sequence-mean-token-mean',
        referenceUpdate: { method: 'ema', decay: 0.5 },
      }),
    );
    const last = reports.at(-1)!.metrics;
    expect(last['update/count']).toBe(4);
    expect(last['kl/reference']).toBeGreaterThan(0);
    expect(last['entropy/mean']).toBeLessThan(reports[0]!.metrics['entropy/mean']!);
    expect(reports[0]!.metrics['entropy/mean']).toBeCloseTo(Math.log(8), 5);
    expect(last['reward/mean']).toBeGreaterThan(reports[0]!.metrics['reward/mean']!);
    expect(last['gap/absolute']).toBeLessThan(1e-6);
  });

  it('reports the mean of each number that the environment gives of an episode', async () => {
    const { environment, ...setup } = algorithmSetup('1');
    const metrics = ({ response }: State) => ({ 'tools/calls': response === 'a' ? 4 : 0, constructor: 1 });
    const sampler = setup.sampler;
    const rollouts = new RolloutManager(
      { ...setup, environment: { ...environment, metrics } },
      { groupSize: 8 },
    );
    const parts = { ...forLoop({ ...setup, rollouts, inference: sampler }) };
    const [report] = await collect(runRlTraining(parts, { iterations: 1 }));
    const responses = report!.groups.flatMap(({ scored }) =>
      scored.map(({ trajectory }) => trajectory.response),
    );
    const calls = responses.filter((response) => response === 'a').length * 4;
    expect(report!.metrics['environment/tools/calls']).toBeCloseTo(calls / responses.length, 12);
    expect(report!.metrics['environment/constructor']).toBe(1);
  });

  it('says that every episode was over before the policy was asked', async () => {
    const { environment, sampler, ...setup } = algorithmSetup('1');
    const over = { ...environment, isTerminal: () => true };
    const rollouts = new RolloutManager({ ...setup, sampler, environment: over }, { groupSize: 2 });
    const parts = forLoop({ ...setup, rollouts, inference: sampler });
    await expect(collect(runRlTraining(parts, { iterations: 1, tasksPerIteration: 2 }))).rejects.toThrow(
      'all 4 episodes were over before the policy was asked; make isTerminal of the environment false',
    );
  });

  it('says that every episode was cut before the policy answered, and can go on without learning', async () => {
    const { environment, sampler, ...setup } = algorithmSetup('1');
    const manager = new RolloutManager({ ...setup, sampler, environment }, { groupSize: 2 });
    const cut: Pick<Trajectory, 'steps' | 'status' | 'termination'> = {
      steps: [],
      status: 'truncated',
      termination: { reason: 'budget', detail: 'the agent took 50 ms' },
    };
    const rollouts = {
      options: manager.options,
      async *collectGroups(...given: Parameters<typeof manager.collectGroups>) {
        for await (const { trajectories, ...group } of manager.collectGroups(...given))
          yield {
            ...group,
            trajectories: trajectories.map((trajectory): typeof trajectory => ({ ...trajectory, ...cut })),
          };
      },
    };
    const parts = forLoop({ ...setup, rollouts, inference: sampler });
    const options = { iterations: 1, tasksPerIteration: 2 };
    await expect(collect(runRlTraining(parts, options))).rejects.toThrow(
      'all 4 episodes were cut before the policy answered, the first by its limit of budget (the agent took 50 ms); shorten',
    );
    const failureBudget = { whenSpent: 'continue', retries: 0 } as const;
    const [report] = await collect(runRlTraining(parts, { ...options, failureBudget }));
    expect(report?.metrics['update/gradient-norm']).toBeUndefined();
  });

  it('says how many groups had no variance', async () => {
    const setup = { ...banditSetup('flat'), rewards: constantRewards(1) };
    const before = await logitsOf(setup);
    const [report] = await collect(runRlTraining(setup, { iterations: 1, tasksPerIteration: 3 }));
    expect(report!.notes).toEqual([
      'the rewards of every group are equal (mean 1), so nothing is learned (1 of 20 iterations from the start that may be ' +
        'so); make tasks easier, raise rollout.groupSize or give partial rewards',
    ]);
    expect(report!.metrics).toMatchObject({ 'groups/zero-variance': 3, 'update/count': 0, 'reward/mean': 1 });
    expect(await logitsOf(setup)).toEqual(before);
  });

  it('does not say so of groups of one, which nothing is compared in', async () => {
    const setup = banditSetup('alone');
    const rollouts = new RolloutManager(forAlgorithm(setup), { groupSize: 1, sampling: { maxTokens: 1 } });
    const [report] = await collect(runRlTraining({ ...setup, rollouts }, { iterations: 1 }));
    expect([report!.metrics['groups/zero-variance'], report!.notes]).toEqual([0, []]);
  });

  it('leaves failed trajectories out, whatever their reward', async () => {
    const setup = banditSetup('failing');
    const { rollouts } = setup;
    const broken = {
      options: rollouts.options,
      async *collectGroups(...call: Parameters<typeof rollouts.collectGroups>) {
        for await (const group of rollouts.collectGroups(...call)) {
          const trajectories = group.trajectories.map(
            (trajectory, member): Trajectory<{ answer: string }> =>
              member === 0
                ? { ...trajectory, status: 'failed', failure: { boundary: 'environment', message: 'broke' } }
                : trajectory,
          );
          yield { ...group, trajectories };
        }
      },
    };
    const [report] = await collect(
      runRlTraining({ ...setup, rollouts: broken, rewards: constantRewards(5) }, { iterations: 1 }),
    );
    expect(report!.metrics).toMatchObject({ 'trajectories/unscored': 8, 'trajectories/failed': 1 / 8 });
    expect(report!.notes).toContain('8 of 64 trajectories failed, the last at the environment: broke');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses the reward %s', async (reward) => {
    const setup = { ...banditSetup('bad'), rewards: constantRewards(reward) };
    await expect(collect(runRlTraining(setup, { iterations: 1 }))).rejects.toThrow(
      `the reward must be a finite number or null, got ${reward}`,
    );
  });

  it('gives back the tasks of an iteration that was interrupted, and ends', async () => {
    const setup = banditSetup('interrupted');
    const controller = new AbortController();
    const rewards: typeof setup.rewards = {
      computeRewards: (group) => {
        if (group.id.startsWith('1/')) controller.abort();
        return setup.rewards.computeRewards(group);
      },
    };
    const reports = await collect(
      runRlTraining(
        { ...setup, rewards, signal: controller.signal },
        { iterations: 5, tasksPerIteration: 4 },
      ),
    );
    expect(reports.map(({ state }) => state)).toEqual([{ iteration: 1, taskCursor: 4 }]);
    expect(setup.tasks.cursor).toBe(4);
  });

  it('leaves no trace of an iteration interrupted before its first update', async () => {
    const setup = banditSetup('scoring');
    const controller = new AbortController();
    const before = await logitsOf(setup);
    const logprobs = setup.backend.logprobs.bind(setup.backend);
    setup.backend.logprobs = (...call) => {
      controller.abort();
      return logprobs(...call);
    };
    const run = runRlTraining(
      { ...setup, signal: controller.signal },
      { iterations: 5, referenceKl: 'always' },
    );
    expect(await collect(run)).toEqual([]);
    expect(setup.tasks.cursor).toBe(0);
    expect(await logitsOf(setup)).toEqual(before);
  });

  it('finishes the iteration when interrupted while learning, and ends with its report', async () => {
    const setup = banditSetup('learning');
    const controller = new AbortController();
    const optimStep = setup.backend.optimStep.bind(setup.backend);
    setup.backend.optimStep = () => {
      controller.abort();
      return optimStep();
    };
    const reports = await collect(
      runRlTraining({ ...setup, signal: controller.signal }, { iterations: 5, epochs: 3 }),
    );
    expect(reports.map(({ metrics }) => metrics['update/count'])).toEqual([3]);
    expect(setup.inference.policyVersion).toBe(setup.backend.weightVersion);
  });

  it('stops at a gradient that is not finite, with the weights as they were', async () => {
    const setup = banditSetup('not-finite');
    const before = await logitsOf(setup);
    const forwardBackward = setup.backend.forwardBackward.bind(setup.backend);
    setup.backend.forwardBackward = (batch, loss) => {
      const sequences = batch.sequences.map(({ columns, ...sequence }) => {
        return { ...sequence, columns: { ...columns, advantages: sequence.tokens.map(() => Number.NaN) } };
      });
      return forwardBackward({ sequences }, loss);
    };
    await expect(collect(runRlTraining(setup, { iterations: 1 }))).rejects.toThrow('not finite');
    expect(await logitsOf(setup)).toEqual(before);
  });

  it('refuses advantages that are not finite before the weights change', async () => {
    const setup = banditSetup('not-finite');
    const before = await logitsOf(setup);
    const advantages = () => Array.from({ length: 8 }, () => Array.from({ length: 8 }, () => Number.NaN));
    const run = collect(runRlTraining({ ...setup, advantages }, { iterations: 1 }));
    await expect(run).rejects.toThrow('a token of member 0 of group 0 must be finite, got NaN');
    expect(await logitsOf(setup)).toEqual(before);
  });

  it('names every wrong option at once', async () => {
    const wrong = { iterations: 0, loss: { clipLow: 2 }, surprise: 1 };
    await expect(collect(runRlTraining(banditSetup('options'), wrong))).rejects.toThrow(
      /iterations[\s\S]*loss\.clipLow[\s\S]*surprise/,
    );
  });
});

describe('a resumed run', () => {
  const options = { iterations: 6, tasksPerIteration: 4, epochs: 2, minibatches: 2 };

  it('equals the uninterrupted one bit for bit', async () => {
    const whole = banditSetup('resume');
    const reports = await collect(runRlTraining(whole, options));

    const directory = await temporary();
    const first = banditSetup('resume');
    for await (const { state } of runRlTraining(first, options)) {
      await saveRun(directory, first.backend, { kind: 'rl', state });
      if (state.iteration === 3) break;
    }
    const second = banditSetup('resume');
    const resume = await loadRun(directory, second.backend, 'rl');
    expect(resume).toEqual({ iteration: 3, taskCursor: 12 });
    const rest = await collect(runRlTraining(second, { ...options, resume }));

    expect(rest.map(substance)).toEqual(reports.slice(3).map(substance));
    expect(await logitsOf(second)).toEqual(await logitsOf(whole));
  });

  it('starts afresh where there is no checkpoint, and refuses one of the other loop', async () => {
    const directory = await temporary();
    const { backend } = banditSetup('empty');
    expect(await loadRun(join(directory, 'missing'), backend, 'rl')).toBeUndefined();
    await saveRun(directory, backend, { kind: 'sft', state: { iteration: 2 } });
    await expect(loadRun(directory, backend, 'rl')).rejects.toThrow(
      'is a checkpoint of an sft run, expected rl',
    );
    expect(await loadRun(directory, backend, 'sft')).toEqual({ iteration: 2 });
  });
});

function constantRewards(reward: number): ReturnType<typeof banditSetup>['rewards'] {
  return {
    computeRewards: async ({ trajectories }) =>
      trajectories.map((trajectory) => ({ trajectory, reward, components: {} })),
  };
}
