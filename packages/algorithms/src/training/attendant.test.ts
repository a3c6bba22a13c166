import { tokenSequences } from '@rlp/core';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { banditSetup, collect } from '../loop/bandit.fixture.ts';
import { runSftTraining } from '../supervised/sft.ts';

const never = () => new Promise<never>(() => undefined) as never;
const loop = { iterations: 2, tasksPerIteration: 2 };

const hanging = [
  ['backend', 'publish'],
  ['backend', 'forwardBackward'],
  ['backend', 'optimStep'],
  ['sampler', 'updateWeights'],
] as const;

function hangingSetup(seed: string, part: 'backend' | 'sampler', method: string) {
  const setup = banditSetup(seed);
  Object.assign(setup[part === 'sampler' ? 'inference' : part], { [method]: never });
  return setup;
}

// What a run loads when it is first needed takes real time, which fake timers do not wait for.
beforeAll(async () => void (await collect(banditSetup('first'), { ...loop, iterations: 1 })));

function fakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

describe.each(hanging)('a hanging call of %s.%s', (part, method) => {
  const call = `${part}.${method}`;

  it('is noted, and ends the run at its deadline', async () => {
    fakeTimers();
    const setup = hangingSetup('hangs', part, method);
    const notes: string[] = [];
    const logger = {
      log: () => undefined,
      note: (_step: number, text: string) => void notes.push(text),
      close: async () => undefined,
    };
    const run = collect({ ...setup, logger }, { ...loop, deadlines: { backendMs: 100_000 } });
    const ended = expect(run).rejects.toThrow(`${call} took longer than 100000 ms`);
    await vi.advanceTimersByTimeAsync(100_000);
    await ended;
    expect(notes).toEqual([`waiting for ${call} since 30 s`, `waiting for ${call} since 60 s`]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is abandoned at once when the signal comes', async () => {
    fakeTimers();
    const setup = hangingSetup('abandoned', part, method);
    const controller = new AbortController();
    const run = collect({ ...setup, signal: controller.signal }, loop);
    const ended = expect(run).rejects.toThrow(`${call} did not end and was abandoned after the signal`);
    await vi.advanceTimersByTimeAsync(5000);
    controller.abort(new Error('stop'));
    await vi.advanceTimersByTimeAsync(500);
    await ended;
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('lets a call go on that a busy machine held up, although those before it were quick', async () => {
  fakeTimers();
  const setup = banditSetup('held up');
  const controller = new AbortController();
  const step = setup.backend.optimStep.bind(setup.backend);
  const heldUp = async (...given: Parameters<typeof step>) => {
    controller.abort(new Error('stop'));
    await new Promise((resolve) => setTimeout(resolve, 4900));
    return step(...given);
  };
  setup.backend.optimStep = heldUp as never;
  const run = collect({ ...setup, signal: controller.signal }, loop);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await run).toHaveLength(1);
});

it('lets a call end that was halted until the signal, as by Ctrl-Z', async () => {
  fakeTimers();
  const setup = banditSetup('halted');
  const controller = new AbortController();
  const step = setup.backend.optimStep.bind(setup.backend);
  const halted = async (...given: Parameters<typeof step>) => {
    await new Promise((resolve) => setTimeout(resolve, 5400));
    return step(...given);
  };
  setup.backend.optimStep = halted as never;
  setTimeout(() => controller.abort(new Error('stop')), 5001);
  const run = collect({ ...setup, signal: controller.signal }, loop);
  await vi.advanceTimersByTimeAsync(6000);
  expect(await run).toHaveLength(1);
});

it('lets a slow backend finish its iteration after the signal, and abandons it only when it hangs', async () => {
  fakeTimers();
  const setup = banditSetup('slow');
  const controller = new AbortController();
  let waitMs = 5000;
  const pass = setup.backend.forwardBackward.bind(setup.backend);
  const slow = async (...given: Parameters<typeof pass>) => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return pass(...given);
  };
  setup.backend.forwardBackward = slow as never;
  setTimeout(() => controller.abort(new Error('stop')), 7000);
  const finished = collect({ ...setup, signal: controller.signal }, { ...loop, epochs: 2 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await finished).map(({ metrics }) => metrics['update/count'])).toEqual([2]);
  const second = new AbortController();
  setTimeout(() => {
    waitMs = 1e9;
  }, 4000);
  setTimeout(() => second.abort(new Error('stop')), 7000);
  const hangs = collect({ ...setup, signal: second.signal }, { ...loop, epochs: 2 });
  const ended = expect(hangs).rejects.toThrow('backend.forwardBackward did not end and was abandoned');
  await vi.advanceTimersByTimeAsync(5000 + 16_000);
  await ended;
});

it('gives up rewards that are late, and names those that it waits for', async () => {
  fakeTimers();
  const setup = banditSetup('late');
  const notes: string[] = [];
  const logger = {
    log: () => undefined,
    note: (_step: number, text: string) => void notes.push(text),
    close: async () => undefined,
  };
  const rewards = { computeRewards: never, waitingFor: () => ['judge'] };
  const options = { ...loop, deadlines: { rewardsMs: 70_000 }, failureBudget: { retries: 0 } };
  const run = collect({ ...setup, rewards, logger }, options);
  const ended = expect(run).rejects.toThrow('the reward computer failed: had no answer for 70000 ms');
  await vi.advanceTimersByTimeAsync(70_000);
  await ended;
  expect(notes).toEqual(['waiting for reward judge since 30 s', 'waiting for reward judge since 60 s']);
});

describe('supervised fine-tuning', () => {
  const sequences = tokenSequences([{ promptTokens: [0], tokens: [1, 7] }]);

  it('gives its logger metrics and notes', async () => {
    fakeTimers();
    const { backend } = banditSetup('sft');
    const logged: unknown[] = [];
    const logger = {
      log: (step: number, metrics: object) => void logged.push([step, metrics]),
      note: (step: number, text: string) => void logged.push([step, text]),
      close: async () => undefined,
    };
    const reports: unknown[] = [];
    for await (const { iteration, metrics } of runSftTraining(
      { backend, sequences, logger },
      { updates: 2 },
    )) {
      reports.push([iteration, metrics]);
    }
    expect(logged).toEqual(reports);
    backend.forwardBackward = never;
    const run = runSftTraining({ backend, sequences, logger }, { deadlines: { backendMs: 40_000 } });
    const ended = expect(run.next()).rejects.toThrow('backend.forwardBackward took longer');
    await vi.advanceTimersByTimeAsync(40_000);
    await ended;
    expect(logged.at(-1)).toEqual([0, 'waiting for backend.forwardBackward since 30 s']);
  });
});

it('lets a run go on whose backend skipped an update that overflowed, and ends one with a lost gradient', async () => {
  const stepping = (result: object) => {
    const setup = banditSetup('overflow');
    Object.assign(setup.backend, {
      optimStep: async () => ({
        gradientNorm: Number.POSITIVE_INFINITY,
        learningRate: 1,
        updates: 1,
        ...result,
      }),
    });
    return collect(setup, { ...loop, iterations: 1 });
  };
  expect(await stepping({ skipped: 'overflow' })).toHaveLength(1);
  await expect(stepping({})).rejects.toThrow(
    'backend.optimStep: expected a finite number as gradientNorm, got Infinity',
  );
});
