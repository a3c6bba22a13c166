import {
  type Finding,
  hasGroup,
  type Intervention,
  type Monitor,
  type MonitorBatch,
  type RewardComputer,
} from '@rlp/core';
import { createDefaultMonitor, RewardQualityAssessor, RewardQualityMonitor } from '@rlp/quality-monitor';
import { rewardFunctions } from '@rlp/rewards';
import { describe, expect, it } from 'vitest';
import { banditSetup } from './bandit.fixture.ts';
import type { RlDependencies, RlReport } from './protocol.ts';
import { runRlTraining } from './rl.ts';

const cause: Finding = { rule: 'planted', severity: 'high', message: 'planted', evidence: {}, iteration: 0 };

type Metadata = ReturnType<typeof banditSetup>['rewards'] extends RewardComputer<infer Of> ? Of : never;

/** Asks for what it is told to, by iteration, and remembers how often it looked. */
function planted(
  ask: (batch: MonitorBatch) => readonly Intervention[],
): Monitor & { readonly seen: number[] } {
  let seen: number[] = [];
  return {
    get seen() {
      return seen;
    },
    observe(batch) {
      seen.push(batch.iteration);
      const interventions = ask(batch);
      return {
        metrics: { 'planted/batches': seen.length },
        findings: interventions.map(() => cause),
        interventions,
      };
    },
    saveState: () => [...seen],
    loadState: (state) => {
      seen = [...(state as number[])];
    },
  };
}

async function run(
  dependencies: RlDependencies<Metadata>,
  options: Parameters<typeof runRlTraining>[1] = {},
) {
  const reports: RlReport<Metadata>[] = [];
  for await (const report of runRlTraining(dependencies, {
    iterations: 4,
    tasksPerIteration: 2,
    ...options,
  })) {
    reports.push(report);
  }
  return reports;
}

const setup = () => banditSetup('monitored');
const weightsOf = async ({ backend }: RlDependencies<Metadata>) =>
  hasGroup(backend, 'weights') ? (await backend.getWeights()).get('logits')!.data : undefined;

describe('a monitor in the loop', () => {
  it('sees every batch, and changes nothing while it asks for nothing', async () => {
    const monitor = planted(() => []);
    const [watched, unwatched] = [setup(), setup()];
    const reports = await run({ ...watched, monitor });
    await run(unwatched);
    expect(monitor.seen).toEqual([0, 1, 2, 3]);
    expect(reports[3]!.metrics).toMatchObject({ 'planted/batches': 4, 'monitor/findings': 0 });
    expect(await weightsOf(watched)).toEqual(await weightsOf(unwatched));
  });

  it('is told the KL to the reference that was measured last, in a resumed run too', async () => {
    const told: (number | undefined)[] = [];
    const watching = () =>
      planted(({ metrics }) => {
        told.push(metrics?.['kl/reference']);
        return [];
      });
    const dependencies = setup();
    const options = { loss: { klCoefficient: 0.1 } };
    const reports = await run({ ...dependencies, monitor: watching() }, { ...options, iterations: 2 });
    await run(
      { ...dependencies, monitor: watching() },
      { ...options, iterations: 3, resume: reports[1]!.state },
    );
    const measured = reports.map(({ metrics }) => metrics['kl/reference']);
    expect(told).toEqual([undefined, ...measured]);
  });

  it('has trajectories left out of what is learned', async () => {
    const dependencies = setup();
    const monitor = planted(({ trajectories }) => [
      { action: 'drop', cause, trajectories: trajectories.map(({ trajectory }) => trajectory.id) },
    ]);
    const before = await weightsOf(dependencies);
    const [report] = await run({ ...dependencies, monitor }, { iterations: 1 });
    expect(report!.groups.flatMap(({ scored }) => scored.map(({ reward }) => reward))).toEqual(
      new Array(16).fill(null),
    );
    expect(report!.notes.at(-1)).toBe('monitor, planted: 16 trajectories are left out');
    expect(report!.findings).toEqual([cause]);
    expect(await weightsOf(dependencies)).toEqual(before);
  });

  it('stops the run without learning from the batch', async () => {
    const dependencies = setup();
    const monitor = planted(({ iteration }) => (iteration === 1 ? [{ action: 'stop', cause }] : []));
    const reports = await run({ ...dependencies, monitor });
    expect(reports.map(({ metrics }) => metrics['update/count'])).toEqual([1, 0]);
  });

  it('stops also where it goes back to earlier weights, whatever comes first', async () => {
    for (const actions of [
      ['stop', 'roll-back'],
      ['roll-back', 'stop'],
    ] as const) {
      const monitor = planted(() => actions.map((action) => ({ action, cause })));
      const reports = await run({ ...setup(), monitor, interventions: { rollBack: async () => undefined } });
      expect(reports.map(({ notes }) => notes.length)).toEqual([2]);
    }
  });

  it('raises the KL coefficient for good', async () => {
    const monitor = planted(({ iteration }) =>
      iteration === 1 ? [{ action: 'raise-kl', cause, factor: 4 }] : [],
    );
    const reports = await run({ ...setup(), monitor }, { loss: { klCoefficient: 0.1 } });
    expect(reports.map(({ metrics }) => metrics['kl/coefficient'])).toEqual([0.1, 0.4, 0.4, 0.4]);
    const without = await run({
      ...setup(),
      monitor: planted(() => [{ action: 'raise-kl', cause, factor: 4 }]),
    });
    expect(without[0]!.notes.at(-1)).toContain('cannot be raised, it is 0');
  });

  it('lowers the weight of a component, also after a resumed run begins anew', async () => {
    const rewards = () =>
      rewardFunctions<Metadata>({
        first: { reward: () => 1 },
        second: { reward: ({ response }) => response.length },
      });
    const monitor = () =>
      planted(({ iteration }) =>
        iteration === 0 ? [{ action: 'lower-weight', cause, component: 'second', factor: 0.5 }] : [],
      );
    const rewardsOf = ({ groups }: RlReport<Metadata>) =>
      groups[0]!.scored.map(({ reward, components }) => [reward, components.second]);
    const half = (report: RlReport<Metadata>) =>
      rewardsOf(report).every(([reward, second]) => reward === 1 + second! / 2);
    const reports = await run({ ...setup(), rewards: rewards(), monitor: monitor() }, { iterations: 2 });
    expect(reports.map(half)).toEqual([expect.any(Boolean), true]);
    const { state } = reports[0]!;
    const resumed = await run(
      { ...setup(), rewards: rewards(), monitor: monitor() },
      { iterations: 2, resume: state },
    );
    expect(resumed.map(half)).toEqual([true]);
    const unknown = planted(() => [{ action: 'lower-weight', cause, component: 'third', factor: 0.5 }]);
    const [report] = await run({ ...setup(), rewards: rewards(), monitor: unknown }, { iterations: 1 });
    expect(report!.notes.at(-1)).toContain('knows no such weight');
  });

  it('lowers it for its own run alone: what is resumed or begun with the same rewards starts from the given weights', async () => {
    const rewards = rewardFunctions<Metadata>({
      first: { reward: () => 1 },
      second: { reward: ({ response }) => response.length + 1 },
    });
    const lower = { action: 'lower-weight', cause, component: 'second', factor: 0.5 } as const;
    const weights = (reports: readonly RlReport<Metadata>[]) =>
      reports.map(({ groups }) => {
        const { reward, components } = groups[0]!.scored[0]!;
        return (reward! - 1) / components.second!;
      });
    const lowered = () => planted(({ iteration }) => (iteration < 2 ? [lower] : []));
    const reports = await run({ ...setup(), rewards, monitor: lowered() }, { iterations: 3 });
    expect(weights(reports)).toEqual([1, 0.5, 0.25]);
    const resume = reports[1]!.state;
    const resumed = await run({ ...setup(), rewards, monitor: lowered() }, { iterations: 3, resume });
    expect(weights(resumed)).toEqual([0.25]);
    expect(weights(await run({ ...setup(), rewards }, { iterations: 1 }))).toEqual([1]);
  });

  it('ends without a trace where the signal comes during a pause', async () => {
    const dependencies = setup();
    const controller = new AbortController();
    const { signal } = controller;
    const monitor = planted(({ iteration }) => (iteration === 1 ? [{ action: 'pause', cause }] : []));
    const pause = async () => {
      controller.abort(new Error('enough'));
      signal.throwIfAborted();
    };
    const reports = await run({ ...dependencies, monitor, signal, interventions: { pause } });
    expect(reports).toHaveLength(1);
    expect([dependencies.tasks.cursor, monitor.seen]).toEqual([2, [0]]);
  });

  it('pauses and rolls back through the handlers it was given, and says what nobody handles', async () => {
    const dependencies = setup();
    const done: string[] = [];
    const good = await dependencies.backend.getWeights();
    const asks: Readonly<Record<number, Intervention>> = {
      1: { action: 'pause', cause },
      2: { action: 'roll-back', cause },
    };
    const monitor = () =>
      planted(({ iteration }) => (asks[iteration] === undefined ? [] : [asks[iteration]]));
    const interventions = {
      pause: async () => void done.push('paused'),
      rollBack: async () => {
        done.push('rolled back');
        await dependencies.backend.loadWeights(good);
      },
    };
    await run({ ...dependencies, monitor: monitor(), interventions }, { iterations: 3 });
    expect(done).toEqual(['paused', 'rolled back']);
    expect(await weightsOf(dependencies)).toEqual(good.get('logits')!.data);
    const reports = await run({ ...setup(), monitor: monitor() }, { iterations: 3 });
    expect(
      reports.flatMap(({ notes }) => notes.filter((note) => note.includes('nobody handles'))),
    ).toHaveLength(2);
  });

  it('is told once the run went back, and not where nobody took it back', async () => {
    const told = async (interventions: RlDependencies<Metadata>['interventions']) => {
      const seen: (string | number | undefined)[] = [];
      const monitor: Monitor = {
        ...planted(() => []),
        observe(batch) {
          seen.push(batch.metrics?.['kl/reference']);
          return { metrics: {}, findings: [], interventions: batch.iteration === 1 ? [back, back] : [] };
        },
        rolledBack: () => seen.push('rolled back'),
      };
      const options = { iterations: 3, loss: { klCoefficient: 0.1 } };
      const reports = await run({ ...setup(), monitor, interventions }, options);
      return { seen, notes: reports[1]!.notes.filter((note) => note.includes('went back')).length };
    };
    const back = { action: 'roll-back', cause } as const;
    const carriedOut: string[] = [];
    const there = await told({ rollBack: async () => void carriedOut.push('back') });
    // The KL that was measured last is of weights that are no more.
    expect(there.seen).toEqual([undefined, expect.any(Number), 'rolled back', undefined]);
    expect([carriedOut.length, there.notes]).toEqual([1, 1]);
    expect((await told(undefined)).seen).toEqual([undefined, expect.any(Number), expect.any(Number)]);
  });

  it('judges by what comes after the run went back', async () => {
    const alarmsOf = async (handling: 'handled' | 'unhandled') => {
      let paid: 'always' | 'rightly' = 'always';
      const dependencies = setup();
      const { rewards: right, backend } = dependencies;
      const rewards: RewardComputer<Metadata> = {
        async computeRewards(group) {
          const scored = await right.computeRewards(group);
          return paid === 'rightly' ? scored : scored.map((score) => ({ ...score, reward: 1 }));
        },
      };
      const good = await backend.getWeights();
      const monitor = new RewardQualityMonitor({
        assessor: new RewardQualityAssessor({
          minSamplesForAnalysis: 80,
          alertThresholds: { varianceCollapse: 0.8 },
        }),
        config: { maxAlertsPerWindow: 0, actions: { variance_collapse: { action: 'roll-back' } } },
      });
      const rollBack = async () => backend.loadWeights(good);
      const findings: number[] = [];
      const interventions = handling === 'handled' ? { rollBack } : {};
      for await (const report of runRlTraining(
        { ...dependencies, rewards, monitor, interventions },
        { iterations: 14, tasksPerIteration: 2 },
      )) {
        if (report.findings.some(({ rule }) => rule === 'variance_collapse')) findings.push(report.iteration);
        // From here on all is well, but for what the monitor remembers.
        if (report.iteration === 4) paid = 'rightly';
      }
      return findings;
    };
    expect(await alarmsOf('handled')).toEqual([4]);
    expect((await alarmsOf('unhandled')).length).toBeGreaterThan(1);
  });

  it('says that the checkpoint is of another monitor than that of the dependencies', async () => {
    const saving = createDefaultMonitor({ console: 'off' });
    const [report] = await run({ ...setup(), monitor: saving }, { iterations: 1 });
    const monitor = createDefaultMonitor({ console: 'off', rewardHacking: 'off' });
    await expect(run({ ...setup(), monitor }, { resume: report!.state })).rejects.toThrow(
      'resume: the checkpoint is of a run with another `monitor` than the one in the dependencies: RewardQualityMonitor: expected the state of a monitor with 0 detectors, got 1; make it with the same `rewardHacking`',
    );
  });

  it('remembers in a resumed run what it had seen, and nothing of an iteration that was undone', async () => {
    const whole = new RewardQualityMonitor();
    await run({ ...setup(), monitor: whole });
    const first = await run({ ...setup(), monitor: new RewardQualityMonitor() }, { iterations: 2 });
    const resumed = new RewardQualityMonitor();
    const { state } = first.at(-1)!;
    const rest = await run({ ...setup(), monitor: resumed }, { resume: JSON.parse(JSON.stringify(state)) });
    expect(rest).toHaveLength(2);
    expect(resumed.getMonitoringSummary().totalSamples).toBe(whole.getMonitoringSummary().totalSamples);
    const controller = new AbortController();
    const monitor = planted(({ iteration }) => {
      if (iteration === 1) controller.abort();
      return [];
    });
    await run({ ...setup(), monitor, signal: controller.signal });
    expect(monitor.seen).toEqual([0]);
  });
});
