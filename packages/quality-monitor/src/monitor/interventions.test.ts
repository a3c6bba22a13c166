import type { Finding, Monitor } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { empty, monitorOf, scored } from './monitor.fixture.ts';
import type { InterventionConfig } from './options.ts';

/** A detector that finds the same in every batch. */
function alarmed(finding: Omit<Finding, 'iteration'>): Monitor {
  return {
    observe: ({ iteration }) => ({ metrics: {}, findings: [{ ...finding, iteration }] }),
    saveState: () => null,
    loadState: () => undefined,
  };
}

const rule = 'planted';
const planted = () => alarmed({ rule, severity: 'high', message: 'planted', evidence: {} });

/** What is asked for in each of so many batches. */
function asked(monitor: ReturnType<typeof monitorOf>, iterations: number, from = 0): string[][] {
  return Array.from({ length: iterations }, (_, at) => {
    const { interventions = [] } = monitor.observe({
      iteration: from + at,
      trajectories: [scored('a', '', 0), scored('b', '', 1)],
    });
    return interventions.map(({ action }) => action);
  });
}

const raise = { action: 'raise-kl', cooldown: 3 } as const;

describe('interventions', () => {
  it('are asked for at once, and again only after their cooldown, however often the rule alerts', () => {
    const monitor = monitorOf({ actions: { [rule]: raise } }, { detectors: [planted()] });
    expect(asked(monitor, 8)).toEqual([['raise-kl'], [], [], ['raise-kl'], [], [], ['raise-kl'], []]);
    expect(monitor.getMonitoringSummary().monitoring.heldInterventions).toBe(5);
  });

  it('rest for 20 steps unless told otherwise; dropping never rests', () => {
    const actions = { [rule]: { action: 'pause' }, degenerate_outputs: { action: 'drop' } } as const;
    const rounds = asked(monitorOf({ actions }, { detectors: [planted()] }), 21);
    expect(rounds.map((round) => round.join())).toEqual([
      'drop,pause',
      ...new Array<string>(19).fill('drop'),
      'drop,pause',
    ]);
  });

  it('are not held back by the limit of alerts that are reported', () => {
    const config: InterventionConfig = {
      maxAlertsPerWindow: 1,
      actions: { [rule]: { ...raise, cooldown: 1 } },
    };
    const monitor = monitorOf(config, { detectors: [planted()] });
    expect(asked(monitor, 4)).toEqual(new Array(4).fill(['raise-kl']));
    expect(monitor.getMonitoringSummary().monitoring.heldAlerts).toBeGreaterThan(0);
  });

  it('rest by rule: another rule, another action and another component are asked for in their own time', () => {
    const detectors = [
      planted(),
      alarmed({ rule: 'other', severity: 'high', message: 'other', evidence: {} }),
    ];
    const actions = {
      [rule]: [raise, { action: 'stop', cooldown: 2 }],
      other: { action: 'raise-kl', cooldown: 2 },
    } satisfies InterventionConfig['actions'];
    expect(asked(monitorOf({ actions }, { detectors }), 4).map((round) => round.length)).toEqual([
      3, 0, 2, 1,
    ]);
    const monitor = monitorOf({ actions: { variance_collapse: { action: 'lower-weight' } } });
    const trajectories = [scored('a', 'x', 1), scored('b', 'y', 1)];
    const lowered = monitor.observe({ iteration: 0, trajectories }).interventions;
    expect(lowered).toMatchObject([{ component: 'accuracy' }, { component: 'total' }]);
  });

  it('are one where a rule finds several things at once', () => {
    const monitor = monitorOf({ actions: { variance_collapse: raise } });
    const trajectories = [scored('a', 'x', 1), scored('b', 'y', 1)];
    const { findings, interventions } = monitor.observe({ iteration: 0, trajectories });
    expect(findings.filter((finding) => finding.rule === 'variance_collapse')).toHaveLength(2);
    expect(interventions).toHaveLength(1);
  });

  it('go on resting in a resumed run', () => {
    const config = { actions: { [rule]: raise } };
    const first = monitorOf(config, { detectors: [planted()] });
    asked(first, 2);
    const second = monitorOf(config, { detectors: [planted()] });
    second.loadState(JSON.parse(JSON.stringify(first.saveState())));
    expect(asked(second, 3, 2)).toEqual([[], ['raise-kl'], []]);
    expect(second.getMonitoringSummary().monitoring.heldInterventions).toBe(3);
  });

  it('are none while they are not enabled, or too slight a finding calls for them', () => {
    const actions = { [rule]: raise };
    expect(asked(monitorOf({ enableInterventions: false, actions }, { detectors: [planted()] }), 1)).toEqual([
      [],
    ]);
    const strict = monitorOf({ interventionSeverity: 'critical', actions }, { detectors: [planted()] });
    expect(asked(strict, 1)).toEqual([[]]);
  });

  it('leave nothing of the old policy once it was rolled back, but counts and what rests', () => {
    const said: string[] = [];
    const told: string[] = [];
    const detectors: Monitor[] = [
      { ...planted(), rolledBack: () => void told.push('first') },
      planted(),
      {
        ...planted(),
        rolledBack: () => {
          throw new Error('no');
        },
      },
    ];
    const actions = { [rule]: { action: 'roll-back' } } as const;
    const monitor = monitorOf({ actions }, { detectors, onFailure: (message) => said.push(message) });
    expect(asked(monitor, 2)).toEqual([['roll-back'], []]);
    expect(monitor.getMonitoringSummary().rewardStatistics).toHaveProperty('accuracy');
    monitor.rolledBack();
    const { rewardStatistics, totalSamples, monitoring } = monitor.getMonitoringSummary();
    expect([rewardStatistics, totalSamples, monitoring.totalAlertsByRule[rule]]).toEqual([{}, 4, 6]);
    expect([told, said.length, monitoring.failures]).toEqual([['first'], 1, { 'detector 2': 1 }]);
    expect(asked(monitor, 1, 2)).toEqual([[]]);
  });

  it('refuse a cooldown that is none', () => {
    expect(() => monitorOf({ actions: { [rule]: { action: 'stop', cooldown: 0 } } })).toThrow('at least 1');
  });
});

describe('alerts', () => {
  it('of one rule, however many, do not hide the first of another', () => {
    const reported: string[] = [];
    let isPlanted = false;
    const late: Monitor = {
      ...planted(),
      observe: (batch) => (isPlanted ? planted().observe(batch) : { metrics: {}, findings: [] }),
    };
    const monitor = monitorOf(
      { maxAlertsPerWindow: 2, customAlertCallback: ({ rule }) => reported.push(rule) },
      { detectors: [late] },
    );
    for (let step = 0; step < 6; step++) monitor.monitorBatch({ responses: empty, rewards: {} });
    isPlanted = true;
    for (let step = 0; step < 3; step++) monitor.monitorBatch({ responses: empty, rewards: {} });
    expect(reported.filter((name) => name !== rule)).toHaveLength(4);
    expect(reported.filter((name) => name === rule)).toHaveLength(1);
  });
});
