import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoggedSample, Metrics, Monitor } from '@rlp/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import { closeRun, saveRun } from '../run.ts';
import { algorithmSetup, banditSetup, collect, forAlgorithm } from './bandit.fixture.ts';

const loop = { iterations: 2, tasksPerIteration: 2 };

/** Goes on where nothing was scored. */
const stubborn = { failureBudget: { whenSpent: 'continue' } } as const;

/** Remembers what it is given. */
function memoryLogger() {
  const told = {
    metrics: [] as Metrics[],
    notes: [] as string[],
    samples: [] as LoggedSample[][],
    findings: [] as string[],
  };
  return {
    told,
    logger: {
      log: (_: number, metrics: Metrics) => void told.metrics.push(metrics),
      note: (step: number, text: string) => void told.notes.push(`${step} ${text}`),
      samples: (_: number, rows: readonly LoggedSample[]) => void told.samples.push([...rows]),
      finding: (step: number, { rule }: { rule: string }) => void told.findings.push(`${step} ${rule}`),
      close: async () => undefined,
    },
  };
}

const alarm: Monitor = {
  observe: ({ iteration }) => ({
    metrics: {},
    findings: [{ rule: 'alarm', severity: 'low', message: 'seen', evidence: {}, iteration }],
  }),
  saveState: () => null,
  loadState: () => undefined,
};

/** Rewards that nobody gives. */
function unscored(seed: string) {
  const setup = banditSetup(seed);
  const rewards: typeof setup.rewards = {
    computeRewards: async ({ trajectories }) =>
      trajectories.map((trajectory) => ({ trajectory, reward: null, components: {} })),
  };
  return { ...setup, rewards };
}

describe('logging', () => {
  it('gives metrics, notes, samples of every group first, and findings', async () => {
    const { logger, told } = memoryLogger();
    const reports = await collect(
      { ...banditSetup('logged'), logger, monitor: alarm },
      { ...loop, loggedSamples: 3 },
    );
    expect(told.metrics).toEqual(reports.map(({ metrics }) => metrics));
    expect(told.notes).toEqual(
      reports.flatMap(({ iteration, notes }) => notes.map((note) => `${iteration} ${note}`)),
    );
    expect(told.findings).toEqual(['0 alarm', '1 alarm']);
    const [first, second] = reports[0]!.groups;
    const expected = [first!.scored[0]!, second!.scored[0]!, first!.scored[1]!];
    expect(told.samples[0]).toEqual(
      expected.map(({ trajectory, reward, components }) => ({
        task: trajectory.task.id,
        prompt: trajectory.task.prompt,
        response: trajectory.response,
        reward,
        components,
      })),
    );
  });

  it('gives no samples on request, and needs no more than `log`', async () => {
    const { logger, told } = memoryLogger();
    await collect({ ...banditSetup('logged'), logger }, { ...loop, loggedSamples: 0 });
    expect(told.samples).toEqual([]);
    const { log, close } = logger;
    const reports = await collect({ ...banditSetup('logged'), logger: { log, close } }, loop);
    expect(told.metrics).toHaveLength(2 * reports.length);
  });

  it('leaves out metrics of rewards and updates when nothing was scored', async () => {
    const [report] = await collect(unscored('absent'), { ...loop, ...stubborn, iterations: 1 });
    const names = Object.keys(report!.metrics);
    expect(names.filter((name) => /^(reward|entropy|loss|kl|ratio|clip|gap|gradient)\//.test(name))).toEqual(
      [],
    );
    expect(report!.metrics).toMatchObject({ 'trajectories/unscored': 16, 'update/count': 0 });
  });

  it('reports the least and the largest reward', async () => {
    const [report] = await collect(banditSetup('spread'), { ...loop, iterations: 1 });
    const rewards = report!.groups.flatMap(({ scored }) => scored.map(({ reward }) => reward!));
    expect(report!.metrics['reward/min']).toBe(Math.min(...rewards));
    expect(report!.metrics['reward/max']).toBe(Math.max(...rewards));
  });

  it('publishes weights once per iteration, also in those that are saved', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rlp-published-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const setup = algorithmSetup('published');
    const algorithm = new GRPOAlgorithm(setup, {
      tasksPerIteration: 2,
      rollout: { sampling: { maxTokens: 1 } },
    });
    const versions: number[] = [];
    for await (const { iteration, state } of algorithm.run({ iterations: 4 })) {
      if (iteration % 2 === 1) await saveRun(directory, setup.backend, { kind: 'rl', state });
      versions.push(setup.sampler.policyVersion);
    }
    // The first publication gives the sampler the weights that the run begins with.
    expect(versions).toEqual([2, 3, 4, 5]);
    const saved = (await readdir(directory)).filter((name) => name.startsWith('checkpoint'));
    expect(saved).toEqual(['checkpoint-00000002', 'checkpoint-00000004']);
    await closeRun(directory);
  });
});

describe('train', () => {
  const options = { tasksPerIteration: 2, rollout: { sampling: { maxTokens: 1 } } };

  it('prints nothing if the logger shows the run on the console', async () => {
    const printed = vi.spyOn(console, 'info').mockImplementation(() => undefined);
    onTestFinished(() => printed.mockRestore());
    const { logger, told } = memoryLogger();
    const trained = (given: object) =>
      new GRPOAlgorithm({ ...algorithmSetup('shown'), logger: given as never }, options).train({
        iterations: 2,
      });
    await trained({ ...logger, shows: 'console' });
    expect([printed.mock.calls.length, told.metrics.length]).toEqual([0, 2]);
    await trained(logger);
    expect(printed.mock.calls.length).toBeGreaterThanOrEqual(2);
    expect(told.metrics).toHaveLength(4);
  });

  it('prints no findings that the monitor shows on the console', async () => {
    const printed = vi.spyOn(console, 'info').mockImplementation(() => undefined);
    onTestFinished(() => printed.mockRestore());
    const findingsOf = async (shows: 'findings' | undefined) => {
      printed.mockClear();
      const setup = { ...algorithmSetup(`monitor-${shows}`), monitor: { ...alarm, shows } };
      await new GRPOAlgorithm(setup, options).train({ iterations: 1 });
      return printed.mock.calls.flat().filter((line) => String(line).includes('finding')).length;
    };
    expect([await findingsOf(undefined), await findingsOf('findings')]).toEqual([1, 0]);
  });

  it('says a note that iterations repeat once, and counts it', async () => {
    const { logger, told } = memoryLogger();
    const setup = { ...algorithmSetup('repeated'), logger };
    const rewards: typeof setup.rewards = {
      computeRewards: async ({ trajectories }) =>
        trajectories.map((trajectory) => ({ trajectory, reward: 1, components: {} })),
    };
    const { notes } = await new GRPOAlgorithm({ ...setup, rewards }, options).train({
      iterations: 12,
      print: 'none',
    });
    expect(told.notes).toEqual([
      expect.stringMatching(/^0 the rewards of every group are equal .*rewards$/),
      expect.stringMatching(/^9 the rewards of every group are equal .* \(10 times so far\)$/),
    ]);
    expect(notes).toEqual([expect.stringMatching(/ \(12 times\)$/)]);
  });

  it('prints one line per iteration and every note and finding', async () => {
    const lines: string[] = [];
    const setup = { ...forAlgorithm(unscored('printed')), monitor: alarm };
    const { notes } = await new GRPOAlgorithm(setup, { ...options, ...stubborn }).train({
      iterations: 1,
      print: (line) => void lines.push(line),
    });
    expect(lines).toEqual([
      'iteration 1/1: no reward, response tokens 1',
      ...notes.map((note) => `iteration 1/1, note: ${note}`),
      'iteration 1/1, low finding alarm: seen',
    ]);
    const numbers: string[] = [];
    await new GRPOAlgorithm(algorithmSetup('numbers'), options).train({
      iterations: 1,
      print: (line) => void numbers.push(line),
    });
    expect(numbers[0]).toMatch(
      /^iteration 1\/1: reward [\d.]+, entropy [\d.]+, gradient [\d.e-]+, response tokens 1$/,
    );
  });
});
