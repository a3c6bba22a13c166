import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import { monitorLogger } from '../files.ts';
import { RewardQualityMonitor } from '../monitor/monitor.ts';
import { readMonitorLogs } from './read-logs.ts';

const directory = mkdtempSync(join(tmpdir(), 'monitor-'));
afterAll(() => rmSync(directory, { recursive: true }));
let files = 0;
const paths = () => {
  const folder = join(directory, String(files++));
  return { alertLogFile: join(folder, 'alerts.jsonl'), metricsLogFile: join(folder, 'metrics.jsonl') };
};
const responses = new Array<string>(20).fill('');

function monitorTo(options: Parameters<typeof monitorLogger>[0], onFailure?: (message: string) => void) {
  const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 1 });
  const config = { actions: { diversity_collapse: { action: 'stop' } } } as const;
  return new RewardQualityMonitor({
    assessor,
    config,
    loggers: [monitorLogger(options)],
    onFailure: onFailure ?? (() => undefined),
  });
}

describe('monitorLogger', () => {
  it('writes what readMonitorLogs reads back', async () => {
    const { alertLogFile, metricsLogFile } = paths();
    const monitor = monitorTo({ alertLogFile, metricsLogFile });
    for (let step = 0; step < 3; step++)
      monitor.monitorBatch({ responses, rewards: { a: responses.map(() => 1) } });
    await monitor.close();
    const line = JSON.parse(readFileSync(alertLogFile, 'utf8').split('\n')[0]!);
    expect(Object.keys(line)).toEqual([
      'step',
      'timestamp',
      'severity',
      'pathology_type',
      'message',
      'metrics',
    ]);
    const logs = readMonitorLogs({
      alerts: readFileSync(alertLogFile, 'utf8'),
      metrics: readFileSync(metricsLogFile, 'utf8'),
    });
    expect(logs.metrics.map(({ step, metrics }) => [step, metrics.reward_a_mean])).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
    expect(logs.findings.slice(0, 3)).toMatchObject([
      { iteration: 0, rule: 'variance_collapse', component: 'a', severity: 'critical' },
      { iteration: 0, rule: 'diversity_collapse' },
      { iteration: 0, rule: 'degenerate_outputs', samples: ['', '', ''] },
    ]);
    expect(logs.notes[0]).toMatchObject({ step: 0, note: expect.stringContaining('stop because of') });
    expect(logs.unreadable).toBe(0);
  });

  it('writes the time of a clock, which is not the count of responses', async () => {
    const { alertLogFile, metricsLogFile } = paths();
    const clock = () => new Date('2026-03-01T12:00:00Z');
    const monitor = monitorTo({ alertLogFile, metricsLogFile, clock });
    monitor.monitorBatch({ responses, rewards: {}, step: 7 });
    await monitor.close();
    const [alerts, metrics] = [alertLogFile, metricsLogFile].map((file) => readFileSync(file, 'utf8'));
    const time = '2026-03-01T12:00:00.000Z';
    for (const line of `${metrics}${alerts}`.trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ time });
    expect(JSON.parse(alerts!.split('\n')[0]!)).toMatchObject({ step: 7, timestamp: 20 });
    expect(readMonitorLogs({ alerts: alerts!, metrics: metrics! })).toMatchObject({
      ...{ unreadable: 0, findings: [{ responsesSeen: 20 }, {}], notes: [{}] },
    });
  });

  it('writes which trajectories a finding names', async () => {
    const { alertLogFile } = paths();
    const logger = monitorLogger({ alertLogFile });
    const finding = { rule: 'changed', severity: 'high', message: 'm', evidence: {}, iteration: 4 } as const;
    logger.finding?.(4, { ...finding, trajectories: ['a/1', 'a/3'] });
    await logger.close();
    const [read] = readMonitorLogs({ alerts: readFileSync(alertLogFile, 'utf8') }).findings;
    expect(read).toMatchObject({ ...finding, trajectories: ['a/1', 'a/3'] });
  });

  it('keeps the step of a batch whose metrics have one of that name', async () => {
    const { metricsLogFile } = paths();
    const monitor = monitorTo({ metricsLogFile });
    for (const step of [1, 2]) {
      monitor.monitorBatch({ responses, rewards: {}, step, extraMetrics: { step: 0, epoch: 7 } });
    }
    await monitor.close();
    const { metrics } = readMonitorLogs({ metrics: readFileSync(metricsLogFile, 'utf8') });
    expect(metrics.map(({ step, metrics: { epoch } }) => [step, epoch])).toEqual([
      [1, 7],
      [2, 7],
    ]);
  });

  it('continues a file without the line that a crash cut short, which is counted when read', async () => {
    const { alertLogFile, metricsLogFile } = paths();
    const first = monitorTo({ metricsLogFile });
    first.monitorBatch({ responses, rewards: {} });
    await first.close();
    expect(existsSync(alertLogFile)).toBe(false);
    appendFileSync(metricsLogFile, '{"step":1,"format_comp');
    expect(readMonitorLogs({ metrics: readFileSync(metricsLogFile, 'utf8') })).toMatchObject({
      unreadable: 1,
    });
    const second = monitorTo({ metricsLogFile });
    second.monitorBatch({ responses, rewards: {}, step: 5 });
    await second.close();
    const { metrics, unreadable } = readMonitorLogs({ metrics: readFileSync(metricsLogFile, 'utf8') });
    expect([metrics.map(({ step }) => step), unreadable]).toEqual([[0, 5], 0]);
  });

  it('is read as one run where a resumed one began again before its end', async () => {
    const { alertLogFile, metricsLogFile } = paths();
    for (const steps of [
      [0, 1, 2],
      [2, 3],
      [1, 2],
    ]) {
      const monitor = monitorTo({ alertLogFile, metricsLogFile });
      for (const step of steps)
        monitor.monitorBatch({ responses, rewards: { a: responses.map(() => 1) }, step });
      await monitor.close();
    }
    const { metrics, findings, notes } = readMonitorLogs({
      alerts: readFileSync(alertLogFile, 'utf8'),
      metrics: readFileSync(metricsLogFile, 'utf8'),
    });
    expect(metrics.map(({ step }) => step)).toEqual([0, 1, 2]);
    expect(findings.map(({ iteration, rule }) => [iteration, rule])).toEqual(
      [0, 1, 2].flatMap((step) => [
        [step, 'variance_collapse'],
        [step, 'diversity_collapse'],
        [step, 'degenerate_outputs'],
      ]),
    );
    expect(notes.map(({ step }) => step)).toEqual([0, 1]);
  });

  it('begins a new file when one is full, and keeps as many as it was told to', async () => {
    const { metricsLogFile } = paths();
    const monitor = monitorTo({ metricsLogFile, maxBytes: 2048, keep: 2 });
    for (let step = 0; step < 40; step++) monitor.monitorBatch({ responses, rewards: {} });
    await monitor.close();
    expect(readdirSync(join(metricsLogFile, '..')).sort()).toEqual([
      'metrics.jsonl',
      'metrics.jsonl.1',
      'metrics.jsonl.2',
    ]);
    const steps = ['.2', '.1', ''].flatMap((age) =>
      readMonitorLogs({ metrics: readFileSync(`${metricsLogFile}${age}`, 'utf8') }).metrics.map(
        ({ step }) => step,
      ),
    );
    expect(steps.at(-1)).toBe(39);
    expect(steps).toEqual(steps.map((_, at) => steps[0]! + at));
    expect(readFileSync(`${metricsLogFile}.1`).length).toBeLessThanOrEqual(2048);
  });

  it.skipIf(!existsSync('/dev/full'))('does not end a run when the disk refuses', async () => {
    const { alertLogFile } = paths();
    const said: string[] = [];
    const monitor = monitorTo({ alertLogFile, metricsLogFile: '/dev/full' }, (message) => said.push(message));
    monitor.monitorBatch({ responses, rewards: {} });
    monitor.monitorBatch({ responses, rewards: {} });
    await monitor.close();
    expect(monitor.getMonitoringSummary()).toMatchObject({
      totalSamples: 40,
      monitoring: { failures: { 'logger 0': 2 } },
    });
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('ENOSPC');
    // What another disk takes is kept.
    expect(readMonitorLogs({ alerts: readFileSync(alertLogFile, 'utf8') }).findings).toHaveLength(4);
  });
});
