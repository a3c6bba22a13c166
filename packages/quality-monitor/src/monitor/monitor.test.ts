import { FormatError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { consoleSink } from './console-sink.ts';
import { empty, good, memorySink, monitorOf, scored } from './monitor.fixture.ts';
import {
  createMonitoredRewardFunctions,
  monitoredBatchReward,
  monitoredReward,
} from './monitored-rewards.ts';
import { RewardFunctionRegistry } from './reward-registry.ts';
import type { MonitorSink } from './sink.ts';
import { wandbSink } from './wandb-sink.ts';

const rewards = { accuracy: empty.map((_, at) => Math.sin(at)) };

describe('RewardQualityMonitor', () => {
  it('reports alerts from a severity on, and counts all of them', () => {
    const sink = memorySink();
    const monitor = monitorOf({ interventionSeverity: 'critical' }, { sinks: [sink] });
    monitor.monitorBatch({ responses: empty, rewards });
    expect(sink.records[0]!.alerts.map(({ pathologyType }) => pathologyType)).toEqual(['diversity_collapse']);
    expect(monitor.getMonitoringSummary().monitoring).toMatchObject({
      totalAlertsBySeverity: { low: 0, medium: 0, high: 1, critical: 1 },
      totalAlertsByType: { degenerate_outputs: 1, diversity_collapse: 1 },
      recentAlertRate: 1 / 100,
    });
  });

  it('holds alerts beyond the rate limit and goes on counting them', () => {
    const sink = memorySink();
    const monitor = monitorOf({ alertAggregationWindow: 4, maxAlertsPerWindow: 2 }, { sinks: [sink] });
    for (let step = 0; step < 8; step++) monitor.monitorBatch({ responses: empty, rewards, step });
    expect(sink.records.map(({ alerts }) => alerts.length)).toEqual([2, 2, 0, 0, 2, 2, 0, 0]);
    expect(sink.records.map(({ metrics }) => metrics.alerts_held)).toEqual([0, 0, 2, 2, 0, 0, 2, 2]);
    const { totalAlertsBySeverity, heldAlerts } = monitor.getMonitoringSummary().monitoring;
    expect([totalAlertsBySeverity.critical, totalAlertsBySeverity.high, heldAlerts]).toEqual([8, 8, 8]);
  });

  it('lets alerts that are too slight to be reported take no place of those that are', () => {
    const sink = memorySink();
    const monitor = monitorOf({ maxAlertsPerWindow: 1, interventionSeverity: 'critical' }, { sinks: [sink] });
    for (let step = 0; step < 3; step++) monitor.monitorBatch({ responses: [good, ''], rewards: {}, step });
    monitor.monitorBatch({ responses: empty, rewards });
    const reported = sink.records.map(({ alerts }) => alerts.map(({ severity }) => severity));
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

  it('survives sinks and callbacks that throw, and says how often they did', async () => {
    const broken: MonitorSink = {
      name: 'disk',
      write: () => {
        throw new Error('ENOSPC');
      },
    };
    const sink = memorySink();
    const customAlertCallback = () => {
      throw new Error('mine');
    };
    const said: string[] = [];
    const monitor = monitorOf(
      { customAlertCallback },
      { sinks: [broken, sink], onFailure: (message) => said.push(message) },
    );
    monitor.monitorBatch({ responses: empty, rewards });
    monitor.monitorBatch({ responses: empty, rewards });
    await monitor.close();
    expect(sink.records).toHaveLength(2);
    expect(monitor.getMonitoringSummary().monitoring.failures).toEqual({ disk: 2, customAlertCallback: 4 });
    expect(said).toEqual([
      'quality monitor: customAlertCallback: it failed: mine; this is said once and counted',
      'quality monitor: disk: it failed: ENOSPC; this is said once and counted',
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
    expect(() => second.loadState({ step: 'x' })).toThrow('expected the state of a RewardQualityMonitor');
    for (const signatures of ['!!!', 'AAAA']) {
      const assessor = { ...second.assessor.saveState(), signatures };
      expect(() => second.assessor.loadState(assessor)).toThrow(FormatError);
    }
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

describe('sinks', () => {
  it('print a block per alert', () => {
    const lines: string[] = [];
    monitorOf({}, { sinks: [consoleSink({ write: (line) => lines.push(line) })] }).monitorBatch({
      responses: empty,
      rewards,
    });
    expect(lines[1]).toBe(
      '[HIGH] degenerate_outputs at step 0\n  High rate of degenerate outputs: 100.0% responses are empty or malformed; ' +
        "none has <reasoning> and <answer>: where none is meant to, set tags: 'none'\n" +
        '  empty_rate=1, empty_count=20, total=20',
    );
  });

  it('log to a Weights & Biases run under one namespace, with what users wrote escaped', () => {
    const logged: Record<string, unknown>[] = [];
    const run = { log: (data: Readonly<Record<string, unknown>>) => logged.push(data) };
    const monitor = monitorOf({}, { sinks: [wandbSink({ run, html: (markup) => ({ markup }) })] });
    monitor.monitorBatch({ responses: ['a', 'b'], rewards: { '<b>': [1, 1] } });
    expect(logged[0]).toMatchObject({
      'reward_quality/alerts_critical': 1,
      'reward_quality/reward_<b>_mean': 1,
    });
    expect(JSON.stringify(logged[0]!['reward_quality/recent_alerts'])).toContain('&lt;b&gt;');
    expect(() => wandbSink({ run: undefined as never })).toThrow('start the run before the monitor');
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
    const batch = monitoredBatchReward((responses: readonly string[]) => responses.map(length), {
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

  it('may be registered one by one', () => {
    const registry = new RewardFunctionRegistry({ monitor: monitorOf() });
    const reward = registry.register('length', length);
    expect([reward('abc'), registry.get('length')?.pending, registry.get('other')]).toEqual([
      3,
      1,
      undefined,
    ]);
    expect(() => registry.register('length', length)).toThrow('there is a reward "length" already');
    registry.flushAll();
    expect(registry.monitor.getMonitoringSummary().totalSamples).toBe(1);
    registry.assessCombinedBatch(['a', 'b'], { length: [1, 1], other: [0, 1] });
    expect(Object.keys(registry.monitor.getMonitoringSummary().rewardStatistics)).toEqual([
      'length',
      'other',
    ]);
    expect(Object.keys(registry.getAllFunctions())).toEqual(['length']);
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
