import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, RandomStream, type State, type Trajectory } from '@rlp/core';
import { rewardFunctions } from '@rlp/rewards';
import { RolloutManager } from '@rlp/rollout';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Collections } from './ahead.ts';
import { banditSetup, collect, forLoop, letterTokenizer } from './bandit.fixture.ts';
import type { RlOptions } from './options.ts';
import type { RlDependencies, RlReport, RlState } from './protocol.ts';
import { runRlTraining } from './rl.ts';
import { RunStoppedError } from './run-stopped.ts';

const turns = 3;

/** Shows the task's letter, and what was said to it in three turns. */
const environment: Environment<State, { readonly answer: string }> = {
  reset: (task) => ({ prompt: task.prompt, response: '', stepCount: 0 }),
  buildPrompt: ({ prompt }) => prompt,
  updateState: (state, response) => ({
    ...state,
    prompt: `${String(state.prompt)}${response}`,
    response,
    stepCount: state.stepCount + 1,
  }),
  isTerminal: ({ stepCount }) => stepCount >= turns,
};

const play: typeof collect = (dependencies, plan) => collect(forLoop(dependencies), plan);

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A run in which each request takes as many turns of the event loop as `delay` says. */
function setUp(delay: (request: number) => number = () => 0) {
  const setup = banditSetup('ahead');
  let requests = 0;
  const sampler = {
    get policyVersion() {
      return setup.inference.policyVersion;
    },
    async sample(request: Parameters<typeof setup.inference.sample>[0]) {
      const ticks = delay(requests++);
      for (let at = 0; at < ticks; at++) await tick();
      return setup.inference.sample(request);
    },
  };
  const rollouts = new RolloutManager<State, { readonly answer: string }>(
    { environment, sampler, tokenizer: letterTokenizer },
    { seed: 'ahead', groupSize: 4, sampling: { maxTokens: 1 }, concurrency: 3 },
  );
  const rewards = rewardFunctions<{ readonly answer: string }>({
    right: async ({ response, task }) => (response === task.metadata.answer ? 1 : 0),
  });
  return { ...setup, rollouts, rewards, requests: () => requests };
}

type Setup = ReturnType<typeof setUp>;

const options = (more: Partial<RlOptions>): RlOptions => ({ iterations: 5, tasksPerIteration: 4, ...more });

const weightsOf = async ({ backend }: Setup) => [...(await backend.getWeights()).get('logits')!.data];

const texts = (reports: readonly RlReport<{ readonly answer: string }>[]) =>
  reports.map(({ groups }) =>
    groups.map(({ group }) => group.trajectories.map(({ id, steps }) => [id, steps.map(({ text }) => text)])),
  );

const stale = (reports: readonly RlReport<never>[] | readonly RlReport[]) =>
  reports.map(({ metrics }) => metrics['staleness/max']);

describe('lookAhead', () => {
  it('0 samples what every iteration learns from with its own weights', async () => {
    const reports = await play(setUp(), options({}));
    expect(stale(reports as never)).toEqual([0, 0, 0, 0, 0]);
    expect(reports.every(({ state }) => state.unfinished === undefined)).toBe(true);
  });

  it.each([
    [1, [0, 1, 1, 1, 1]],
    [2, [0, 1, 2, 2, 2]],
    [9, [0, 1, 2, 3, 4]],
  ])('%i bounds the age of weights by admission', async (lookAhead, expected) => {
    const reports = await play(setUp(), options({ lookAhead }));
    expect(stale(reports as never)).toEqual(expected);
    expect(reports.map(({ metrics }) => metrics['trajectories/count'])).toEqual([16, 16, 16, 16, 16]);
    expect(reports.every(({ metrics }) => metrics['staleness/mixed'] === 0)).toBe(true);
  });

  it('samples the next iterations while one is learned from', async () => {
    const setup = setUp((request) => (request % 7) * 2);
    let during = 0;
    const forwardBackward = setup.backend.forwardBackward.bind(setup.backend);
    // A backend with weights of its own, so that only publications wait.
    Object.assign(setup.backend, {
      async forwardBackward(...call: Parameters<typeof forwardBackward>) {
        const before = setup.requests();
        for (let at = 0; at < 5; at++) await tick();
        during += setup.requests() - before;
        return forwardBackward(...call);
      },
    });
    await play(setup, options({ lookAhead: 1, publishWhileSampling: 'continue' }));
    expect(during).toBeGreaterThan(10);
  });

  it('gives the same run whatever the timing', async () => {
    const expected = setUp();
    const reports = texts(await play(expected, options({ lookAhead: 2 })));
    await fc.assert(
      fc.asyncProperty(fc.string(), async (schedule) => {
        const stream = RandomStream.named(schedule);
        const setup = setUp(() => stream.integer(6));
        expect(texts(await play(setup, options({ lookAhead: 2 })))).toEqual(reports);
        expect(await weightsOf(setup)).toEqual(await weightsOf(expected));
      }),
      { numRuns: 8 },
    );
  });

  it("with 'continue' publishes at once; steps have the version that sampled them", async () => {
    const stream = RandomStream.named('mixed');
    const setup = setUp(() => stream.integer(12));
    const reports = await play(
      setup,
      options({ iterations: 8, lookAhead: 2, publishWhileSampling: 'continue' }),
    );
    expect(reports.some(({ metrics }) => metrics['staleness/mixed']! > 0)).toBe(true);
    for (const age of stale(reports as never)) expect(age).toBeLessThanOrEqual(2);
    const steps = reports.flatMap(({ groups }) => groups.flatMap(({ group }) => group.trajectories));
    const mixed = steps.find(
      (trajectory) => new Set(trajectory.steps.map((step) => step.policyVersion)).size > 1,
    )!;
    expect(mixed.policyVersion).toBe(Math.min(...mixed.steps.map((step) => step.policyVersion!)));
  });

  it('gives the tasks of what it began back when the consumer leaves', async () => {
    const setup = setUp((request) => request % 5);
    for await (const { iteration } of runRlTraining(forLoop(setup), options({ lookAhead: 2 })))
      if (iteration === 1) break;
    expect(setup.tasks.cursor).toBe(8);
    for (let at = 0; at < 20; at++) await tick();
    expect(setup.rollouts.unfinished()).toEqual([]);
  });

  it('replaces groups, tries lost iterations again and stops, as without it', async () => {
    const replacing = await play(setUp(), options({ lookAhead: 2, zeroVarianceGroups: 'replace' }));
    expect(replacing.some(({ metrics }) => (metrics['groups/rounds'] ?? 1) > 1)).toBe(true);
    const setup = setUp();
    let calls = 0;
    const rewards = {
      computeRewards: async (group: Parameters<typeof setup.rewards>[0]) => {
        calls += 1;
        if (calls > 6 && calls < 15) throw new Error('away');
        return setup.rewards.computeRewards(group as never);
      },
    };
    const dependencies = { ...setup, rewards, sleep: tick } as never as RlDependencies;
    const whole = setUp();
    const expected = texts(await play(whole, options({ lookAhead: 1 })));
    expect(texts((await play(dependencies, options({ lookAhead: 1 }))) as never)).toEqual(expected);
  });

  it('stops with the state of the report before', async () => {
    const setup = setUp();
    let calls = 0;
    const rewards = {
      computeRewards: async (group: Parameters<typeof setup.rewards>[0]) => {
        calls += 1;
        if (calls > 8) throw new Error('away');
        return setup.rewards.computeRewards(group as never);
      },
    };
    const reports: RlReport[] = [];
    const run = async () => {
      const dependencies = { ...setup, rewards, sleep: tick } as never as RlDependencies;
      for await (const report of runRlTraining(forLoop(dependencies), options({ lookAhead: 1 })))
        reports.push(report);
    };
    const error = await run().then(
      () => undefined,
      (reason: unknown) => reason as RunStoppedError,
    );
    expect(error).toBeInstanceOf(RunStoppedError);
    expect(reports).toHaveLength(2);
    expect(error!.state).toEqual(reports[1]!.state);
    expect(error!.message).toContain('iteration 3');
  });
});

/** A state as a checkpoint has it. */
const stored = (state: RlState) => JSON.parse(JSON.stringify(state)) as RlState;

describe('a run that samples ahead and is resumed', () => {
  it.each([0, 1, 2, 3])('after iteration %i becomes what it would have become', async (stopAt) => {
    const delay = (request: number) => request % 4;
    const plan = options({ lookAhead: 2 });
    const whole = setUp(delay);
    const expected = texts(await play(whole, plan));
    const first = setUp(delay);
    const directory = await mkdtemp(join(tmpdir(), 'rlp-ahead-'));
    let resume: RlState | undefined;
    const before: RlReport<{ readonly answer: string }>[] = [];
    for await (const report of runRlTraining(forLoop(first), plan)) {
      before.push(report);
      if (report.iteration < stopAt) continue;
      await first.backend.saveCheckpoint(join(directory, 'backend'));
      resume = stored(report.state);
      break;
    }
    if (stopAt < 3) expect(resume!.unfinished!.length).toBeGreaterThan(16);
    const second = setUp();
    await second.backend.loadCheckpoint(join(directory, 'backend'));
    const after = await play(second, { ...plan, resume });
    expect(texts([...before, ...after])).toEqual(expected);
    expect(await weightsOf(second)).toEqual(await weightsOf(whole));
  });
});

describe('a run that is interrupted', () => {
  it.each([0, 2])('keeps its episodes, and goes on with them (lookAhead %i)', async (lookAhead) => {
    const plan = options({ iterations: 3, lookAhead });
    const whole = setUp();
    const expected = texts(await play(whole, plan));
    const total = whole.requests();
    for (let stopAt = 1; stopAt < total; stopAt += 17) {
      const controller = new AbortController();
      const setup = setUp((request) => {
        if (request === stopAt) controller.abort(new Error('stop'));
        return 1;
      });
      let resume: RlState | undefined;
      const onInterrupted = (state: RlState) => {
        resume = stored(state);
      };
      const before = await play({ ...setup, signal: controller.signal, onInterrupted }, plan);
      expect(resume, `${stopAt}`).toBeDefined();
      const kept = resume!.unfinished!.reduce((sum, { steps }: Trajectory) => sum + steps.length, 0);
      if (stopAt > 20) expect(kept).toBeGreaterThan(0);
      const asked = setup.requests();
      const after = await play(setup, { ...plan, resume });
      expect(texts([...before, ...after])).toEqual(expected);
      expect(await weightsOf(setup)).toEqual(await weightsOf(whole));
      // Only the turns under way at the stop are sampled twice.
      expect(asked + (setup.requests() - asked)).toBeLessThan(total + 3 * 4 * (1 + lookAhead) + 4);
    }
  });
});

describe('rewards', () => {
  it('begin when an episode ends, and comparing ones when its group does', async () => {
    const log: string[] = [];
    let straggling = true;
    const setup = setUp((request) => (request === 0 ? 400 : 0));
    const right = rewardFunctions<{ readonly answer: string }>({
      right: ({ id }) => {
        if (straggling) log.push(`one ${id}`);
        return id.endsWith('0') ? 1 : 0;
      },
    });
    const rewards = {
      prepare: right.prepare,
      computeRewards: async (group: Parameters<typeof right>[0]) => {
        if (group.id.includes('task-0')) straggling = false;
        else if (straggling) log.push(`group ${group.id}`);
        return right.computeRewards(group);
      },
    };
    const [report] = await play({ ...setup, rewards: rewards as never }, options({ iterations: 1 }));
    expect(log.filter((line) => line.startsWith('group')).toSorted()).toEqual(
      [1, 2, 3].map((at) => `group 0/task-${at}`),
    );
    const ones = log.filter((line) => line.startsWith('one'));
    expect(ones).toHaveLength(16);
    expect(ones.slice(0, 12).some((line) => line.includes('task-0'))).toBe(false);
    const first = log.findIndex((line) => line.startsWith('group'));
    expect(log.slice(0, first).filter((line) => line.startsWith('one')).length).toBeGreaterThanOrEqual(4);
    expect(report!.groups.map(({ group }) => group.id)).toEqual([0, 1, 2, 3].map((at) => `0/task-${at}`));
    expect(right.getStatistics().right!.calls).toBe(16);
  });

  it('are told to the sinks of the rollouts', async () => {
    const given: (number | null)[] = [];
    const setup = setUp();
    const rollouts = new RolloutManager<State, { readonly answer: string }>(
      {
        environment,
        sampler: setup.inference,
        tokenizer: letterTokenizer,
        onEvent: (event) => event.type === 'reward-given' && given.push(event.reward),
      },
      { groupSize: 4, sampling: { maxTokens: 1 } },
    );
    const [report] = await play({ ...setup, rollouts }, options({ iterations: 1 }));
    expect(given).toHaveLength(16);
    expect(given.filter((reward) => reward === 1).length / 16).toBeCloseTo(report!.metrics['reward/mean']!);
  });
});

describe('the episodes that a state keeps', () => {
  /** An episode of the iteration that its group's name begins with. */
  const episode = (id: string, group: string, status: Trajectory['status']) =>
    ({ id, status, group: { id: group, member: 0 }, steps: [] }) as unknown as Trajectory;

  const unfinished = (carried: readonly Trajectory[], running: readonly Trajectory[]) => {
    const dependencies = { rollouts: { unfinished: () => running } } as unknown as RlDependencies;
    return new Collections(dependencies, { lookAhead: 0, iterations: 9 }, { iteration: 3, carried })
      .unfinished()
      .map(({ id }) => id);
  };

  it('are those that did not fail, of iterations that are not over', () => {
    const running = [
      episode('failed', '3/task-0', 'failed'),
      episode('pending', '3/task-0', 'pending'),
      episode('completed', '4/task-1', 'completed'),
      episode('over', '2/task-0', 'completed'),
    ];
    expect(unfinished([], running)).toEqual(['pending', 'completed']);
  });

  it('are begun again if they failed after they were carried over', () => {
    const carried = [episode('one', '3/a', 'pending'), episode('two', '3/a', 'pending')];
    expect(unfinished(carried, [episode('two', '3/a', 'failed')])).toEqual(['one']);
  });
});

it('a run that is over listens to its signal no more', async () => {
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  await play({ ...setUp(), signal }, options({ iterations: 1, lookAhead: 1 }));
  expect(added).toHaveBeenCalled();
  expect(removed.mock.calls.length).toBe(added.mock.calls.length);
});
