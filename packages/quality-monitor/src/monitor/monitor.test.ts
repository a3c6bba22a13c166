import {
  callableRewards,
  FormatError,
  type MetricsLogger,
  type Monitor,
  type RewardComputer,
  type RewardFunction,
  type ScoredTrajectory,
} from '@rlp/core';
import { describe, expect, it, vi } from 'vitest';
import { rewardHackingDetector } from '../hacking/detector.ts';
import type { MonitoredBatch } from './batch.ts';
import { consoleAlerts } from './console-alerts.ts';
import { empty, good, memoryLogger, monitorOf, scored } from './monitor.fixture.ts';
import { RewardQualityMonitor } from './monitor.ts';
import { createMonitoredRewardFunctions, monitoredReward, monitoredRewards } from './monitored-rewards.ts';

const rewards = { accuracy: empty.map((_, at) => Math.sin(at)) };

describe('RewardQualityMonitor', () => {
  it('reports alerts from a severity on, and counts all of them', () => {
    const logger = memoryLogger();
    const monitor = monitorOf({ interventionSeverity: 'critical' }, { loggers: [logger] });
    monitor.monitorBatch({ responses: empty, rewards });
    expect(logger.records[0]!.findings.map(({ rule }) => rule)).toEqual(['diversity_collapse']);
    expect(monitor.getMonitoringSummary().monitoring).toMatchObject({
      totalAlertsBySeverity: { low: 0, medium: 0, high: 1, critical: 1 },
      totalAlertsByRule: { degenerate_outputs: 1, diversity_collapse: 1 },
      recentAlertRate: 1 / 100,
    });
  });

  it('holds alerts beyond the rate limit and goes on counting them', () => {
    const logger = memoryLogger();
    const monitor = monitorOf({ alertAggregationWindow: 4, maxAlertsPerWindow: 2 }, { loggers: [logger] });
    for (let step = 0; step < 8; step++) monitor.monitorBatch({ responses: empty, rewards, step });
    expect(logger.records.map(({ findings }) => findings.length)).toEqual([2, 2, 0, 0, 2, 2, 0, 0]);
    expect(logger.records.map(({ metrics }) => metrics.alerts_held)).toEqual([0, 0, 2, 2, 0, 0, 2, 2]);
    const { totalAlertsBySeverity, heldAlerts } = monitor.getMonitoringSummary().monitoring;
    expect([totalAlertsBySeverity.critical, totalAlertsBySeverity.high, heldAlerts]).toEqual([8, 8, 8]);
  });

  it('lets alerts that are too slight to be reported take no place of those that are', () => {
    const logger = memoryLogger();
    const monitor = monitorOf(
      { maxAlertsPerWindow: 1, interventionSeverity: 'critical' },
      { loggers: [logger] },
    );
    for (let step = 0; step < 3; step++) monitor.monitorBatch({ responses: [good, ''], rewards: {}, step });
    monitor.monitorBatch({ responses: empty, rewards });
    const reported = logger.records.map(({ findings }) => findings.map(({ severity }) => severity));
    expect(reported).toEqual([[], [], [], ['critical']]);
    expect(monitor.getMonitoringSummary().monitoring.totalAlertsBySeverity.high).toBe(4);
  });

  it('asks for several things at once, and for a lower weight of the component that it was told', () => {
    const monitor = monitorOf({
      actions: {
        degenerate_outputs: [
          { action: 'roll-back' },
          { action: 'lower-weight', component: 'style', factor: 0.1 },
          { action: 'lower-weight' },
        ],
      },
    });
    const { findings, interventions } = monitor.observe({ iteration: 0, trajectories: [scored('a', '', 0)] });
    const cause = findings.find(({ rule }) => rule === 'degenerate_outputs');
    expect(interventions).toEqual([
      { action: 'roll-back', cause },
      { action: 'lower-weight', cause, component: 'style', factor: 0.1 },
    ]);
  });

  it('is a monitor of a training loop: it asks for what it was told to, about the trajectories at fault', () => {
    const monitor = monitorOf({
      actions: { degenerate_outputs: { action: 'drop' }, diversity_collapse: { action: 'stop' } },
    });
    const trajectories = [scored('a', '', 0), scored('b', good, 1), scored('c', 'no tags', 0.5)];
    const { metrics, findings, interventions } = monitor.observe({ iteration: 3, trajectories });
    expect(metrics['reward_quality/empty_content_rate']).toBeCloseTo(2 / 3);
    expect(metrics['reward_quality/reward_total_mean']).toBe(0.5);
    expect(findings.map(({ rule }) => rule)).toEqual(['degenerate_outputs']);
    expect(interventions).toEqual([{ action: 'drop', cause: findings[0], trajectories: ['a', 'c'] }]);
  });

  it('survives loggers and callbacks that throw, and says how often they did', async () => {
    const broken: MetricsLogger = {
      log: () => {
        throw new Error('ENOSPC');
      },
      close: async () => undefined,
    };
    const logger = memoryLogger();
    const customAlertCallback = () => {
      throw new Error('mine');
    };
    const said: string[] = [];
    const monitor = monitorOf(
      { customAlertCallback },
      { loggers: [broken, logger], onFailure: (message) => said.push(message) },
    );
    monitor.monitorBatch({ responses: empty, rewards });
    monitor.monitorBatch({ responses: empty, rewards });
    await monitor.close();
    expect(logger.records).toHaveLength(2);
    expect(monitor.getMonitoringSummary().monitoring.failures).toEqual({
      'logger 0': 2,
      customAlertCallback: 4,
    });
    expect(said).toEqual([
      'quality monitor: logger 0: ENOSPC; further failures are only counted',
      'quality monitor: customAlertCallback: mine; further failures are only counted',
    ]);
  });

  it('continues from its state as if it had never stopped', () => {
    const whole = monitorOf();
    const first = monitorOf();
    const batches = Array.from({ length: 6 }, (_, step) => ({
      step,
      responses: empty.map(
        (_, at) => `<reasoning>${'word '.repeat(at + step)}</reasoning><answer>${at}</answer>`,
      ),
      rewards: { accuracy: empty.map((_, at) => Math.cos(at * step)) },
    }));
    for (const batch of batches) whole.monitorBatch(batch);
    for (const batch of batches.slice(0, 3)) first.monitorBatch(batch);
    const saved = first.saveState();
    // Written late, it is still the state of then.
    for (const batch of batches.slice(3)) first.monitorBatch(batch);
    const second = monitorOf();
    second.monitorBatch({ responses: ['forgotten'], rewards: { other: [1] } });
    second.loadState(JSON.parse(JSON.stringify(saved)));
    for (const batch of batches.slice(3)) second.monitorBatch(batch);
    expect(second.getMonitoringSummary()).toEqual(whole.getMonitoringSummary());
    expect(second.saveState()).toEqual(whole.saveState());
    const refusals: [unknown, string][] = [
      [JSON.stringify(saved), 'got text; pass what JSON.parse makes of it'],
      [
        { step: 'x' },
        'got another in state: Invalid input: expected object, received undefined; if another version saved it, begin with',
      ],
      [
        { state: { ...saved.state, step: 'x' } },
        'got another in state.step: Invalid input: expected number, received string',
      ],
    ];
    for (const [given, problem] of refusals) {
      expect(() => second.loadState(given)).toThrow(
        `expected the state of a RewardQualityMonitor, as saveState returns it, ${problem}`,
      );
    }
    const detected = monitorOf({}, { detectors: [rewardHackingDetector()] }).saveState();
    expect(() => second.loadState(detected)).toThrow(
      'expected the state of a monitor with 0 detectors, got 1; make it with the same `rewardHacking` or `detectors` as the one that was saved',
    );
    for (const signatures of ['!!!', 'AAAA']) {
      const assessor = { state: { ...second.assessor.saveState().state, signatures } };
      expect(() => second.assessor.loadState(assessor)).toThrow(FormatError);
    }
  });

  it('writes the states of its parts only when its own is read', () => {
    const theirs = { seen: [1] };
    const other: Monitor = {
      observe: () => ({ metrics: {}, findings: [] }),
      saveState: () => theirs,
      loadState: () => undefined,
    };
    const write = vi.spyOn(globalThis, 'btoa');
    const saved = monitorOf({}, { detectors: [rewardHackingDetector(), other] }).saveState();
    theirs.seen.push(2);
    expect(write).not.toHaveBeenCalled();
    expect(JSON.parse(JSON.stringify(saved)).state.detectors[1]).toEqual({ seen: [1] });
    expect(write).toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('refuses parts that it does not know, and what is no logger', () => {
    expect(() => new RewardQualityMonitor({ logger: [], loggers: [console.log] } as never)).toThrow(
      /loggers\.0: must be a logger[\s\S]*"logger"; did you mean loggers\?/,
    );
  });

  it('refuses steps that do not grow', () => {
    const monitor = monitorOf();
    monitor.monitorBatch({ responses: [], rewards: {}, step: 4 });
    expect(() => monitor.monitorBatch({ responses: [], rewards: {}, step: 4 })).toThrow(
      'steps must be whole numbers that grow, got 4 after 4',
    );
    // Half a step, or one beyond all that follow, could not be gone on from.
    for (const step of [4.5, Number.POSITIVE_INFINITY, Number.NaN, 2 ** 60]) {
      expect(() => monitor.monitorBatch({ responses: [''], rewards: { a: [] }, step })).toThrow(
        'whole numbers',
      );
    }
    expect(monitor.getMonitoringSummary()).toMatchObject({ totalSamples: 0, monitoring: { failures: {} } });
  });
});

describe('loggers', () => {
  it('print a block per alert', () => {
    const lines: string[] = [];
    monitorOf({}, { loggers: [consoleAlerts({ write: (line) => lines.push(line) })] }).monitorBatch({
      responses: empty,
      rewards,
    });
    expect(lines[1]).toBe(
      '[HIGH] degenerate_outputs at step 0\n  High rate of degenerate outputs: 100.0% responses are empty or malformed. ' +
        'None has <reasoning> and <answer>. For plain text set the option tags (flag --tags) to "none"\n' +
        '  empty_rate=1, empty_count=20, total=20\n' +
        '  What helps: Check model stability; Verify generation parameters; Investigate tokenizer issues',
    );
  });

  it('print control codes of a response as escapes', () => {
    const lines: string[] = [];
    const logger = consoleAlerts({ write: (line) => lines.push(line) });
    const finding = {
      severity: 'low',
      rule: 'length',
      message: 'Only they share "\u009b2J \u001b[2J"',
    } as const;
    logger.finding?.(3, { ...finding, iteration: 3, evidence: {}, trajectories: [] });
    logger.note?.(3, 'said \u001b[2J');
    expect(lines).toEqual([
      '[LOW] length at step 3\n  Only they share "\\u009b2J \\u001b[2J"\n  ',
      '→ step 3: said \\u001b[2J',
    ]);
  });

  it('get metrics under one namespace, with counts of the alerts', () => {
    const logged: Record<string, number>[] = [];
    const logger: MetricsLogger = {
      log: (_, metrics) => void logged.push(metrics),
      close: async () => undefined,
    };
    const monitor = monitorOf({}, { loggers: [logger] });
    monitor.monitorBatch({ responses: ['a', 'b'], rewards: { style: [1, 1] } });
    expect(logged[0]).toMatchObject({
      'reward_quality/alerts_critical': 1,
      'reward_quality/alerts_this_batch': 2,
      'reward_quality/pathology_variance_collapse': 1,
      'reward_quality/reward_style_mean': 1,
    });
  });
});

describe('monitored rewards', () => {
  const length = (response: string) => response.length;

  it('score as before, and are assessed at intervals and when flushed', () => {
    const monitor = monitorOf();
    const reward = monitoredReward(length, { name: 'length', monitor, batchInterval: 4 });
    expect(Array.from({ length: 6 }, (_, at) => reward('x'.repeat(at)))).toEqual([0, 1, 2, 3, 4, 5]);
    expect([monitor.getMonitoringSummary().totalSamples, reward.pending, monitor.step]).toEqual([4, 2, 4]);
    reward.flush();
    expect([monitor.getMonitoringSummary().totalSamples, reward.pending, monitor.step]).toEqual([6, 0, 6]);
  });

  it('may be asynchronous, and may score batches', async () => {
    const monitor = monitorOf();
    const later = monitoredReward(
      async (response: string, reference: string) => (response === reference ? 1 : 0),
      {
        name: 'later',
        monitor,
      },
    );
    const batch = monitoredReward((responses: readonly string[]) => responses.map(length), {
      name: 'batch',
      monitor,
    });
    expect(await later('a', 'a')).toBe(1);
    expect(batch(['a', 'bb'])).toEqual([1, 2]);
    expect([later.pending, batch.pending]).toEqual([1, 2]);
  });

  it('share one monitor when made together', () => {
    const { functions, monitor, flush } = createMonitoredRewardFunctions({
      length,
      half: (text: string) => text.length / 2,
    });
    expect([functions.length('abcd'), functions.half('abcd')]).toEqual([4, 2]);
    flush();
    expect(Object.keys(monitor.getMonitoringSummary().rewardStatistics)).toEqual(['length', 'half']);
  });

  const group = { id: 'g', task: { id: 't', prompt: '2 + 2?', metadata: 4 }, trajectories: [] };
  const computer: RewardComputer<number> = {
    computeRewards: async () => [scored('a', good, 1), scored('b', '', 0)] as ScoredTrajectory<number>[],
  };

  it('may be a reward computer, of which each group is a batch', async () => {
    const monitor = monitorOf();
    const watched = monitoredRewards(computer, monitor);
    expect(await watched.computeRewards(group)).toHaveLength(2);
    await watched.computeRewards(group);
    expect([monitor.step, monitor.getMonitoringSummary().totalSamples]).toEqual([1, 4]);
  });

  it('may be made of rewards of all kinds, and stay what they are', async () => {
    class Judge {
      readonly #name = 'judge';
      readonly computeRewards = computer.computeRewards;
      scaleWeight = (name: string) => (name === this.#name ? 'scaled' : 'unknown component');
      describe() {
        return this.#name;
      }
    }
    const exact: RewardFunction<number> = ({ response, task }) => (response === `${task.metadata}` ? 1 : 0);
    const { functions, monitor, flush } = createMonitoredRewardFunctions({
      exact,
      callable: callableRewards(computer),
      frozen: Object.freeze({ ...computer }),
      judge: new Judge(),
      batch: async (responses: readonly string[]) => responses.map(length),
    });
    const batches: MonitoredBatch[] = [];
    monitor.monitorBatch = (batch) => void batches.push(batch) as never;
    const signal = new AbortController().signal;
    const trajectory = { ...scored('a', good, 1).trajectory, task: group.task };
    expect(functions.exact(trajectory, { signal })).toBe(0);
    expect(await functions.callable(group)).toHaveLength(2);
    expect(await functions.frozen.computeRewards(group)).toHaveLength(2);
    expect(await functions.judge.computeRewards(group)).toHaveLength(2);
    expect([functions.judge.describe(), functions.judge.scaleWeight('judge')]).toEqual(['judge', 'scaled']);
    expect(await functions.batch([good, ''])).toEqual([good.length, 0]);
    expect(functions.judge.pending).toBe(2);
    flush();
    const rewards = { callable: [1, 0], frozen: [1, 0], judge: [1, 0], batch: [good.length, 0] };
    expect(batches).toEqual([
      { step: 2, responses: [good, ''], prompts: ['2 + 2?', ''], rewards: { ...rewards, exact: [0, null] } },
    ]);
  });

  it('refuses what cannot score', () => {
    expect(() => createMonitoredRewardFunctions({ accuracy: { accuracy: 1 } as never })).toThrow(
      'expected accuracy to be a function or a reward computer, got {"accuracy":1}',
    );
  });

  it('refuses options that are misspelt or out of range', () => {
    const options = { name: 'length', monitor: monitorOf(), batchInterval: 0, monitring: 'off' };
    expect(() => monitoredReward((text: string) => text.length, options)).toThrow(
      'batchInterval: expected a number of at least 1, got 0\n  - Unrecognized option "monitring"; did you mean monitoring?',
    );
  });

  it('throw what they threw before', () => {
    const broken = monitoredReward(
      (_: string): number => {
        throw new Error('no such reference');
      },
      { name: 'broken', monitor: monitorOf() },
    );
    expect(() => broken('a')).toThrow('no such reference');
    expect(broken.pending).toBe(0);
  });
});
