import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Step, Weights } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { estimators } from '../estimator/estimators.ts';
import { loadRun, saveRun } from '../run.ts';
import { runSftTraining, type SftReport } from '../supervised/sft.ts';
import type { ResumeOptions } from '../training/resume-options.ts';
import { forLoop } from './bandit.fixture.ts';
import { type EngineKind, engineSetup, sums } from './engine.fixture.ts';
import type { RlOptions } from './options.ts';
import type { RlReport, RlState } from './protocol.ts';
import { runRlTraining } from './rl.ts';

type Setup = Awaited<ReturnType<typeof engineSetup>>;

/** Several updates an iteration, a KL to a reference that moves: everything a checkpoint must hold. */
const grpo = {
  iterations: 5,
  tasksPerIteration: 3,
  epochs: 2,
  minibatches: 2,
  loss: { klCoefficient: 0.05 },
  referenceUpdate: { method: 'ema', decay: 0.5, everyIterations: 2 },
} satisfies RlOptions;

const imitation = { updates: 7, sequencesPerBatch: 16 };

async function setUp(variation: EngineKind = {}): Promise<Setup> {
  const setup = await engineSetup(variation);
  onTestFinished(() => setup.close());
  return setup;
}

async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rlp-engine-run-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

async function practise(setup: Setup, options: RlOptions & ResumeOptions<RlState> = grpo) {
  const reports: RlReport[] = [];
  for await (const report of runRlTraining(forLoop(setup), options)) reports.push(report as RlReport);
  return reports;
}

async function imitate(setup: Setup, options: Parameters<typeof runSftTraining>[1] = imitation) {
  const reports: SftReport[] = [];
  const { backend } = setup;
  for await (const report of runSftTraining({ backend, sequences: sums }, options)) reports.push(report);
  return reports;
}

/** Everything an iteration reports but the numbers of weight versions: a resumed run publishes once more. */
/** A step without its version: loading weights is a publication too, so a resumed run counts one more. */
const sampled = ({ policyVersion: _, ...step }: Step) => step;

const substance = ({ iteration, metrics, notes, state, groups }: RlReport) => ({
  iteration,
  metrics,
  notes,
  state,
  samples: groups.map(({ scored }) =>
    scored.map(({ trajectory: { id, steps }, reward }) => ({ id, steps: steps.map(sampled), reward })),
  ),
});

const bytesOf = (weights: Weights) =>
  [...weights].map(([name, { data }]) => [
    name,
    Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex'),
  ]);

describe('GRPO on an engine', () => {
  it('resumed in a thread of its own equals the uninterrupted run in this one bit for bit', async () => {
    const whole = await setUp();
    const reports = await practise(whole);
    const directory = await temporary();
    const first = await setUp();
    for await (const { state } of runRlTraining(forLoop(first), grpo)) {
      await saveRun(directory, first.backend, { kind: 'rl', state });
      if (state.iteration === 3) break;
    }
    const second = await setUp({ thread: 'worker' });
    const resume = await loadRun(directory, second.backend, 'rl');
    const rest = await practise(second, { ...grpo, resume });
    expect(rest.map(substance)).toEqual(reports.slice(3).map(substance));
    expect(rest.map(({ metrics }) => metrics['update/count'])).toEqual([4, 4]);
    expect(bytesOf(await second.backend.getWeights())).toEqual(bytesOf(await whole.backend.getWeights()));
  });
});

describe('PPO on an engine, its critic on the same trunk', () => {
  const ppo = {
    iterations: 4,
    tasksPerIteration: 3,
    epochs: 2,
    critic: { clip: 0.2 },
    rewardKl: { coefficient: 0.05 },
    klControl: { target: 0.01, horizon: 100 },
  } satisfies RlOptions;

  const actorCritic = async (variation: EngineKind = {}) => {
    const setup = await setUp({ ...variation, valueHead: 'linear' });
    return { ...setup, critic: setup.backend, advantages: estimators.gae() };
  };

  it('resumed from a saved run equals the uninterrupted one bit for bit', async () => {
    const whole = await actorCritic();
    const reports = await practise(whole, ppo);
    const directory = await temporary();
    const first = await actorCritic();
    for await (const { state } of runRlTraining(forLoop(first), ppo)) {
      await saveRun(directory, first.backend, { kind: 'rl', state }, { critic: first.critic });
      if (state.iteration === 2) break;
    }
    const second = await actorCritic();
    const resume = await loadRun(directory, second.backend, 'rl', { critic: second.critic });
    const rest = await practise(second, { ...ppo, resume });
    expect(rest.map(substance)).toEqual(reports.slice(2).map(substance));
    expect(rest.at(-1)!.metrics['value/mean']).not.toBe(0);
    expect(bytesOf(await second.backend.getWeights())).toEqual(bytesOf(await whole.backend.getWeights()));
  });
});

describe('samples', () => {
  // What else is in the batch changes a sequence by rounding, so numbers are compared within it, and before any update.
  it('are the same whatever the concurrency of the rollouts', async () => {
    const [one, other] = [await setUp({ concurrency: 64 }), await setUp({ concurrency: 1 })];
    const options = { iterations: 1, tasksPerIteration: 8 };
    const steps = (reports: RlReport[]) =>
      reports.flatMap(({ groups }) => groups.flatMap(({ group }) => group.trajectories.map((t) => t.steps)));
    const [expected, actual] = [steps(await practise(one, options)), steps(await practise(other, options))];
    expect(actual).toEqual(
      expected.map((trajectory) =>
        trajectory.map((step) => ({
          ...step,
          behaviorLogprobs: step.behaviorLogprobs.map((logprob) => expect.closeTo(logprob, 5)),
        })),
      ),
    );
  });
});

describe('SFT on an engine', () => {
  it('resumed from a saved run equals the uninterrupted one bit for bit', async () => {
    const whole = await setUp();
    const reports = await imitate(whole);
    const directory = await temporary();
    const first = await setUp();
    const { backend } = first;
    for await (const { state } of runSftTraining({ backend, sequences: sums }, imitation)) {
      if (state.iteration === 4) {
        await saveRun(directory, backend, { kind: 'sft', state });
        break;
      }
    }
    const second = await setUp();
    const resume = await loadRun(directory, second.backend, 'sft');
    const rest = await imitate(second, { ...imitation, resume });
    expect(rest).toEqual(reports.slice(4));
    expect(bytesOf(await second.backend.getWeights())).toEqual(bytesOf(await whole.backend.getWeights()));
  });
});
