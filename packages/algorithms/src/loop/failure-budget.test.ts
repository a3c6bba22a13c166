import type { RewardComputer } from '@rlp/core';
import { RewardQualityMonitor } from '@rlp/quality-monitor';
import { rewardFunctions } from '@rlp/rewards';
import { RolloutManager } from '@rlp/rollout';
import { describe, expect, it } from 'vitest';
import type { ResumeOptions } from '../training/resume-options.ts';
import { banditSetup, forAlgorithm, forLoop } from './bandit.fixture.ts';
import type { RlOptions } from './options.ts';
import type { RlDependencies, RlReport, RlState } from './protocol.ts';
import { runRlTraining } from './rl.ts';
import { RunStoppedError } from './run-stopped.ts';

type Setup = ReturnType<typeof setUp>;

const loop = { iterations: 6, tasksPerIteration: 2, failureBudget: { retries: 3, backOffMs: 10 } };

/** A judge that can be away, and a logger and a sleep that remember. */
function setUp(seed = 'budget') {
  const setup = banditSetup(seed);
  const world = { judge: 'there' as 'there' | 'away', sampler: 'there' as 'there' | 'away' };
  const sample = setup.inference.sample.bind(setup.inference);
  setup.inference.sample = async (request) => {
    if (world.sampler === 'away') throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    return sample(request);
  };
  const judge = new Error('the judge is away');
  const rewards = rewardFunctions<{ answer: string }>({
    judge: async ({ response, task }) => {
      if (world.judge === 'away') throw judge;
      return response === task.metadata.answer ? 1 : 0;
    },
  });
  const slept: number[] = [];
  const notes: string[] = [];
  const logger = {
    log: () => undefined,
    note: (step: number, text: string) => void notes.push(`${step} ${text}`),
    close: async () => undefined,
  };
  return { ...setup, rewards, world, judge, logger, notes, slept, monitor: new RewardQualityMonitor() };
}

interface Run {
  readonly reports: RlReport<{ answer: string }>[];
  readonly error: unknown;
}

async function run(
  setup: Setup,
  options: RlOptions & ResumeOptions<RlState> = loop,
  { onReport, onSleep }: { onReport?: (iteration: number) => void; onSleep?: (tries: number) => void } = {},
  more: Partial<RlDependencies<{ answer: string }>> = {},
): Promise<Run> {
  const reports: Run['reports'] = [];
  const sleep = async (milliseconds: number) => {
    setup.slept.push(milliseconds);
    onSleep?.(setup.slept.length);
  };
  try {
    for await (const report of runRlTraining({ ...forLoop(setup), sleep, ...more }, options)) {
      reports.push(report);
      onReport?.(report.iteration);
    }
  } catch (error) {
    return { reports, error };
  }
  return { reports, error: undefined };
}

const weightsOf = async ({ backend }: Setup) => [...(await backend.getWeights()).get('logits')!.data];

describe('an outage', () => {
  it.each(['judge', 'sampler'] as const)('of the %s that ends leaves no trace', async (part) => {
    const whole = setUp();
    const undisturbed = await run(whole);
    const setup = setUp();
    const { reports, error } = await run(setup, loop, {
      onReport: (iteration) => {
        if (iteration === 2) setup.world[part] = 'away';
      },
      onSleep: (tries) => {
        if (tries === 2) setup.world[part] = 'there';
      },
    });
    expect(error).toBeUndefined();
    expect(setup.slept).toEqual([10, 20]);
    expect(reports.map(({ metrics }) => metrics)).toEqual(undisturbed.reports.map(({ metrics }) => metrics));
    expect(reports.map(({ state }) => state)).toEqual(undisturbed.reports.map(({ state }) => state));
    expect(await weightsOf(setup)).toEqual(await weightsOf(whole));
    expect(setup.notes.filter((note) => note.includes('tried again'))).toHaveLength(2);
    expect(reports[3]!.notes.filter((note) => note.includes('tried again'))).toHaveLength(2);
  });

  it.each(['judge', 'sampler'] as const)(
    'of the %s that lasts stops the run, which can go on',
    async (part) => {
      const whole = setUp();
      await run(whole);
      const setup = setUp();
      const onReport = (iteration: number) => {
        if (iteration === 2) setup.world[part] = 'away';
      };
      const { reports, error } = await run(setup, loop, { onReport });
      expect(setup.slept).toEqual([10, 20, 40]);
      expect(reports).toHaveLength(3);
      expect(error).toBeInstanceOf(RunStoppedError);
      expect(error).toMatchObject({
        reason: part === 'judge' ? 'rewards-failed' : 'episodes-failed',
        state: reports[2]!.state,
        message: expect.stringMatching(
          part === 'judge'
            ? /iteration 4: none of 16 .*reward "judge": the judge is away/
            : /at the sampler: connect/,
        ),
        cause: part === 'judge' ? setup.judge : expect.objectContaining({ code: 'ECONNREFUSED' }),
      });
      expect(setup.tasks.cursor).toBe(reports[2]!.state.taskCursor);
      setup.world[part] = 'there';
      const rest = await run(setup, { ...loop, resume: (error as RunStoppedError).state });
      expect(rest.reports).toHaveLength(3);
      expect(await weightsOf(setup)).toEqual(await weightsOf(whole));
    },
  );

  it('of the sampler is named where failed episodes are dropped', async () => {
    const setup = setUp();
    setup.world.sampler = 'away';
    const { environment, sampler, tokenizer } = forAlgorithm(setup);
    const rollouts = new RolloutManager(
      { environment, sampler, tokenizer },
      { groupSize: 8, sampling: { maxTokens: 1 }, onFailure: 'drop-group' },
    );
    const { error } = await run({ ...setup, rollouts });
    expect(error).toMatchObject({
      reason: 'nothing-collected',
      message: expect.stringMatching(/no episode of 2 tasks was kept; the last failure: .*connect/),
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('of a reward computer that rejects is one too', async () => {
    const setup = setUp();
    let calls = 0;
    const rewards: RewardComputer<{ answer: string }> = {
      computeRewards: (group, options) => {
        calls += 1;
        if (calls === 4) throw new Error('socket hang up');
        return setup.rewards.computeRewards(group, options);
      },
    };
    const { error } = await run(setup, loop, {}, { rewards });
    expect([error, setup.slept]).toEqual([undefined, [10]]);
    const never = { computeRewards: () => Promise.reject(new Error('no such table')) };
    expect(await run(setUp(), loop, {}, { rewards: never })).toMatchObject({
      reports: [],
      error: { reason: 'rewards-rejected', cause: { message: 'no such table' }, state: { taskCursor: 0 } },
    });
  });

  it('ends with the signal while the run waits', async () => {
    const setup = setUp();
    const controller = new AbortController();
    const onReport = () => {
      setup.world.judge = 'away';
      setTimeout(() => controller.abort(new Error('enough')), 5);
    };
    const options = { ...loop, failureBudget: { backOffMs: 1e6 } };
    const { sleep: _, ...more } = { sleep: undefined, signal: controller.signal };
    const reports: unknown[] = [];
    for await (const report of runRlTraining({ ...forLoop(setup), ...more }, options)) {
      reports.push(report);
      onReport();
    }
    expect([reports.length, setup.tasks.cursor]).toEqual([1, 2]);
  });
});

describe('a budget', () => {
  it('counts a share of the episodes', async () => {
    const half = (setup: Setup): RewardComputer<{ answer: string }> => ({
      async computeRewards(group, options) {
        const scored = await setup.rewards.computeRewards(group, options);
        return scored.map((score, member) => (member % 2 === 0 ? score : { ...score, reward: null }));
      },
    });
    const setup = setUp();
    const budget = { ...loop.failureBudget, share: 0.5 };
    const { error } = await run(setup, { ...loop, failureBudget: budget }, {}, { rewards: half(setup) });
    expect(error).toMatchObject({ reason: 'rewards-missing', message: expect.stringContaining('8 of 16') });
    const patient = setUp();
    expect((await run(patient, loop, {}, { rewards: half(patient) })).error).toBeUndefined();
  });

  it('waits at most a minute', async () => {
    const setup = setUp();
    const onReport = () => {
      setup.world.judge = 'away';
    };
    await run(setup, { ...loop, failureBudget: { retries: 8 } }, { onReport });
    expect(setup.slept).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => 1000 * seconds));
  });

  it('bears equal rewards for some iterations, from the start only', async () => {
    const equal = { computeRewards: allOf(0) };
    const { reports, error } = await run(
      setUp(),
      { ...loop, failureBudget: { flatIterations: 4 } },
      {},
      {
        rewards: equal,
      },
    );
    expect(reports).toHaveLength(4);
    expect(error).toMatchObject({ reason: 'rewards-equal', state: { iteration: 4, taskCursor: 8 } });
    const resume = { iteration: 1, taskCursor: 2 };
    const more = { rewards: equal };
    const options = { ...loop, failureBudget: { flatIterations: 1 } };
    expect((await run(setUp(), { ...options, resume }, {}, more)).error).toBeUndefined();
    const learned = setUp();
    let groups = 0;
    const solved: typeof equal = {
      computeRewards: (group) => (groups++ < 2 ? learned.rewards : equal).computeRewards(group),
    };
    expect((await run(learned, options, {}, { rewards: solved })).error).toBeUndefined();
  });

  it('stops where sampler and trainer disagree', async () => {
    const setup = setUp();
    const sample = setup.inference.sample;
    setup.inference.sample = async (request) =>
      (await sample(request)).map((completion) => ({
        ...completion,
        behaviorLogprobs: completion.behaviorLogprobs.map((logprob) => logprob - 1.5),
      }));
    const { reports, error } = await run(setup);
    expect(reports).toHaveLength(1);
    expect(error).toMatchObject({ reason: 'sampler-gap', message: expect.stringContaining('by 1.5 nats') });
    expect(reports[0]!.notes.join()).toContain('sampler and trainer disagree by 1.5 nats');
  });
});

function allOf(reward: number): RewardComputer<{ answer: string }>['computeRewards'] {
  return async ({ trajectories }) =>
    trajectories.map((trajectory) => ({ trajectory, reward, components: {} }));
}
