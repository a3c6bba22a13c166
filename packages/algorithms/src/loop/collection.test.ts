import { RandomStream, type Trajectory } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import { estimators } from '../estimator/estimators.ts';
import { banditSetup, collect, forAlgorithm } from './bandit.fixture.ts';
import { groupFilters } from './group-filters.ts';
import type { RlOptions } from './options.ts';
import type { GroupFilter, RlReport } from './protocol.ts';

type Setup = ReturnType<typeof banditSetup>;

/** Rewards by coin for the members of some groups, all equal in the others: `share` of the groups teach something. */
function withVariance(setup: Setup, share: number): Setup {
  const computeRewards: Setup['rewards']['computeRewards'] = async ({ id, trajectories }) => {
    const random = RandomStream.named('coin', id);
    const teaches = random.uniform() < share;
    return trajectories.map((trajectory, member) => ({
      trajectory,
      reward: teaches ? member % 2 : 1,
      components: {},
    }));
  };
  return { ...setup, rewards: { computeRewards } };
}

const replace = { zeroVarianceGroups: 'replace', tasksPerIteration: 4 } satisfies RlOptions;

it('a task source that has come to its end ends the run with a reason', async () => {
  const setup = banditSetup('ended');
  const tasks = { ...setup.tasks, take: () => [] };
  await expect(collect({ ...setup, tasks }, { iterations: 2 })).rejects.toThrow(
    'the task source has no task left; take one that begins again',
  );
});

it('a reward computer that returns plain numbers is told what was expected', async () => {
  const rewards = { computeRewards: async () => Array(8).fill(0.5) as never };
  const setup = banditSetup('numbers');
  await expect(collect({ ...setup, rewards }, { iterations: 1 })).rejects.toThrow(
    'must return { trajectory, reward, components } for each trajectory, got 0.5 at 0',
  );
});

describe('dynamic sampling', () => {
  it('replaces groups without variance by further tasks until the batch is full', async () => {
    const setup = withVariance(banditSetup('replace'), 0.4);
    const reports = await collect(setup, { ...replace, iterations: 3 });
    for (const { groups, metrics } of reports) {
      expect(groups).toHaveLength(4);
      expect(metrics['groups/count']! - metrics['groups/zero-variance']!).toBe(4);
    }
    expect(reports.some(({ metrics }) => metrics['groups/rounds']! > 1)).toBe(true);
    const taken = reports.reduce((sum, { metrics }) => sum + metrics['groups/count']!, 0);
    expect(reports.at(-1)!.state).toEqual({ iteration: 3, taskCursor: taken });
    expect(setup.tasks.cursor).toBe(taken);
  });

  it('is the same again, and when resumed', async () => {
    const run = () => withVariance(banditSetup('again'), 0.4);
    const ids = (reports: readonly RlReport<unknown>[]) =>
      reports.map(({ groups }) => groups.map(({ group }) => group.id));
    const reports = await collect(run(), { ...replace, iterations: 4 });
    expect(ids(await collect(run(), { ...replace, iterations: 4 }))).toEqual(ids(reports));
    // Rewards depend on ids alone here, so the rest of the run needs no checkpoint.
    const resume = reports[1]!.state;
    expect(ids(await collect(run(), { ...replace, iterations: 4, resume }))).toEqual(ids(reports.slice(2)));
  });

  it('draws other samples when a task comes again in a later round', async () => {
    const setup = withVariance(banditSetup('rounds'), 0.2);
    const [task] = setup.tasks.take(1);
    const tasks = { ...setup.tasks, take: (count: number) => Array.from({ length: count }, () => task!) };
    const [report] = await collect({ ...setup, tasks }, { ...replace, iterations: 1 });
    const ids = report!.groups.map(({ group }) => group.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContainEqual(expect.stringMatching(/^0\.\d+\//));
  });

  it('gives up after its rounds, and says so', async () => {
    const setup = withVariance(banditSetup('never'), 0);
    const [report] = await collect(setup, { ...replace, iterations: 1, collectionRounds: 3 });
    expect(report!.groups).toEqual([]);
    expect(report!.notes).toContain('0 of 4 groups were worth learning from after 3 rounds of collection');
    expect(report!.metrics).toMatchObject({ 'groups/count': 12, 'update/count': 0, 'groups/rounds': 3 });
    expect(report!.state.taskCursor).toBe(12);
  });

  it('ends with the round in which nothing was scored', async () => {
    const setup = banditSetup('nothing-scored');
    const rewards: Setup['rewards'] = {
      computeRewards: async ({ trajectories }) =>
        trajectories.map((trajectory) => ({ trajectory, reward: null, components: {} })),
    };
    const options = { ...replace, iterations: 1, failureBudget: { whenSpent: 'continue' } } as const;
    const [report] = await collect({ ...setup, rewards }, options);
    expect(report!.metrics).toMatchObject({ 'groups/count': 4, 'update/count': 0 });
    expect(setup.tasks.cursor).toBe(4);
  });

  it('gives back the tasks of all rounds when interrupted', async () => {
    const controller = new AbortController();
    const setup = withVariance(banditSetup('interrupted'), 0.2);
    const { computeRewards } = setup.rewards;
    const rewards: typeof setup.rewards = {
      computeRewards: (group, context) => {
        if (group.id.startsWith('0.1/')) controller.abort();
        return computeRewards(group, context);
      },
    };
    const interrupted = { ...setup, rewards, signal: controller.signal };
    expect(await collect(interrupted, { ...replace, iterations: 1 })).toEqual([]);
    expect(setup.tasks.cursor).toBe(0);
  });
});

describe('a group filter', () => {
  it('has groups that it turns down replaced, and says how many there were', async () => {
    const setup = { ...withVariance(banditSetup('filter'), 0.4), groupFilter: groupFilters.rewardVariance() };
    const [report] = await collect(setup, { tasksPerIteration: 4, iterations: 1, collectionRounds: 20 });
    expect(report!.groups).toHaveLength(4);
    const { 'groups/count': collected, 'groups/rejected': rejected } = report!.metrics;
    expect(rejected).toBeGreaterThan(0);
    expect(collected! - rejected!).toBe(4);
  });

  it('learns what replacing groups without variance learns, where that is what it looks for', async () => {
    const run = async (groupFilter: GroupFilter | undefined, options: RlOptions) => {
      const setup = withVariance(banditSetup('filter'), 0.4);
      await collect({ ...setup, groupFilter } as Setup, { tasksPerIteration: 4, iterations: 2, ...options });
      return [...(await setup.backend.getWeights()).get('logits')!.data];
    };
    const filtered = await run(groupFilters.rewardVariance(), {});
    expect(filtered).toEqual(await run(undefined, { zeroVarianceGroups: 'replace' }));
    expect(await run(groupFilters.rewardAbove(), { zeroVarianceGroups: 'replace' })).toEqual(filtered);
  });

  it('is an option of algorithms', async () => {
    const setup = withVariance(banditSetup('filter'), 0.4);
    const groupFilter = groupFilters.rewardAbove({ threshold: 2 });
    const options = { groupFilter, tasksPerIteration: 2, collectionRounds: 3 };
    const { history, notes } = await new GRPOAlgorithm(forAlgorithm(setup), options).train({ iterations: 1 });
    expect(history[0]).toMatchObject({ 'groups/rejected': 6, 'groups/rounds': 3, 'update/count': 0 });
    expect(notes).toContain('0 of 2 groups were worth learning from after 3 rounds of collection');
  });

  it('refuses bounds that nothing lies between', () => {
    expect(() => groupFilters.meanLength({ minimum: 20, maximum: 10 })).toThrow('groupFilters.meanLength');
    expect(() => groupFilters.diverseResponses({ minimumShare: 2 })).toThrow('minimumShare');
  });
});

describe('long answers', () => {
  it('are punished in the reward, as a component of their own', async () => {
    const overlong = { maximum: 1, buffer: 1 };
    const [report] = await collect(banditSetup('overlong'), { iterations: 1, overlong });
    const [plain] = await collect(banditSetup('overlong'), { iterations: 1 });
    expect(report!.metrics['reward/component/overlong']).toBe(-1);
    expect(report!.metrics['reward/mean']).toBeCloseTo(plain!.metrics['reward/mean']! - 1, 12);
  });

  it('are penalised after their reward was limited', async () => {
    const overlong = { maximum: 1, buffer: 1 };
    const rewardClip = { low: 0.25, high: 0.5 };
    const [plain] = await collect(banditSetup('overlong'), { iterations: 1 });
    const [clipped] = await collect(banditSetup('overlong'), { iterations: 1, rewardClip });
    const [both] = await collect(banditSetup('overlong'), { iterations: 1, rewardClip, overlong });
    const [low, high] = ['reward/min', 'reward/max'].map((name) => plain!.metrics[name]!);
    expect([low, high]).toEqual([0, 1]);
    expect(clipped!.metrics).toMatchObject({ 'reward/min': 0.25, 'reward/max': 0.5 });
    expect(both!.metrics).toMatchObject({ 'reward/min': -0.75, 'reward/max': -0.5 });
  });

  it('teach nothing where they are masked, and still count in their groups', async () => {
    const setup = banditSetup('masked');
    const [report] = await collect(setup, { iterations: 1, truncatedTrajectories: 'mask' });
    const truncated = report!.metrics['trajectories/truncated']!;
    expect(truncated).toBeGreaterThan(0.5);
    const trained = report!.groups
      .flatMap(({ scored }) => scored)
      .filter(({ trajectory }) => trajectory.status === 'completed').length;
    expect(report!.metrics['tokens/trained']).toBeLessThanOrEqual(trained);
    expect(report!.metrics['trajectories/unscored']).toBe(0);
  });
});

it('a reward of a step that is not finite is refused', async () => {
  const setup = banditSetup('step-reward');
  const { computeRewards } = setup.rewards;
  const rewards: typeof setup.rewards = {
    computeRewards: async (group) => {
      const scored = await computeRewards(group);
      return scored.map((score) => ({
        ...score,
        trajectory: {
          ...score.trajectory,
          steps: score.trajectory.steps.map((step) => ({ ...step, reward: Number.NaN })),
        },
      }));
    },
  };
  await expect(collect({ ...setup, rewards }, { iterations: 1 })).rejects.toThrow(
    'the reward must be a finite number or null, got NaN',
  );
});

/** A setup whose trajectories are changed on their way to the loop. */
function altered(setup: Setup, change: (trajectory: Trajectory<never>) => Partial<Trajectory>): Setup {
  const { rollouts } = setup;
  const collector = {
    options: rollouts.options,
    async *collectGroups(...call: Parameters<typeof rollouts.collectGroups>) {
      for await (const group of rollouts.collectGroups(...call)) {
        const trajectories = group.trajectories.map((trajectory) => ({
          ...trajectory,
          ...change(trajectory as never),
        }));
        yield { ...group, trajectories };
      }
    },
  };
  return { ...setup, rollouts: collector as never };
}

describe('trajectories that cannot be trained', () => {
  it('for want of logprobs end the run with one error', async () => {
    const setup = altered(banditSetup('logprobs'), ({ steps }) => ({
      steps: steps.map((step) => ({ ...step, behaviorLogprobs: [] })),
    }));
    await expect(collect(setup, { iterations: 1 })).rejects.toThrow(
      'step 0 must hold one logprob per token, got 0 for 1 tokens',
    );
  });

  it.each(['grpo', 'ppo'] as const)('because all are masked make no update (%s)', async (kind) => {
    const setup = altered(banditSetup('all-masked', { valueHead: 'linear' }), () => ({
      status: 'truncated',
    }));
    const critic = kind === 'ppo' ? { critic: setup.backend, advantages: estimators.gae() } : {};
    const before = [...(await setup.backend.getWeights()).get('logits')!.data];
    const options = { iterations: 1, truncatedTrajectories: 'mask', epochs: 2 } as const;
    const [report] = await collect({ ...setup, ...critic }, options);
    expect(report!.metrics['update/count']).toBe(0);
    expect(Object.values(report!.metrics).every(Number.isFinite)).toBe(true);
    expect([...(await setup.backend.getWeights()).get('logits')!.data]).toEqual(before);
  });

  it.each(['grpo', 'ppo'] as const)('because none was scored make no update (%s)', async (kind) => {
    const setup = banditSetup('unscored', { valueHead: 'linear' });
    const rewards: Setup['rewards'] = {
      computeRewards: async ({ trajectories }) =>
        trajectories.map((trajectory) => ({ trajectory, reward: null, components: {} })),
    };
    const critic = kind === 'ppo' ? { critic: setup.backend, advantages: estimators.gae() } : {};
    const options = { iterations: 1, failureBudget: { whenSpent: 'continue' } } as const;
    const [report] = await collect({ ...setup, ...critic, rewards }, options);
    expect(report!.metrics).toMatchObject({ 'update/count': 0, 'trajectories/unscored': 64 });
    expect(Object.values(report!.metrics).every(Number.isFinite)).toBe(true);
  });
});
