import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '@rlp/core';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import { RewardQualityDashboard } from '../files/dashboard.ts';
import type { MonitorLogs } from '../files/read-logs.ts';
import { monitorLogger } from '../files.ts';
import { RewardQualityMonitor } from '../monitor/monitor.ts';
import { alertMarks } from './alert-marks.ts';
import { renderMonitorPage } from './monitor-page.ts';

const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
afterAll(() => rmSync(directory, { recursive: true }));

const alert = (iteration: number, more: Partial<Finding> = {}): Finding => ({
  iteration,
  severity: 'high',
  rule: 'excessive_repetition',
  message: `found at ${iteration}`,
  evidence: {},
  ...more,
});
const none: MonitorLogs = { metrics: [], findings: [], notes: [], unreadable: 0 };
/** Tags of a page, without what stands between them and without the places where names may break. */
const tags = (page: string) => page.replaceAll('<wbr>', '').match(/<[a-z!/][^>]*>/gi) ?? [];

describe('renderMonitorPage', () => {
  it('shows that there is nothing to show', () => {
    expect(renderMonitorPage(none)).toContain('No alerts were reported.');
  });

  it('shows the newest notes, also where the rate limit held every alert back', () => {
    const notes = Array.from({ length: 80 }, (_, step) => ({ step, note: `cause ${step}` }));
    const page = renderMonitorPage({ ...none, notes });
    expect(page.match(/cause \d+/g)).toEqual(Array.from({ length: 50 }, (_, at) => `cause ${79 - at}`));
    expect(page).toContain('The last 50 of 80.');
  });

  it('shows alerts by rule and severity, newest first, and marks them in the curves', () => {
    const metrics = [0, 1, 2].map((step) => ({ step, metrics: { repetition_rate: step / 2, coherence: 1 } }));
    const hacking = alert(2, { rule: 'suspected_reward_hacking' });
    const page = renderMonitorPage({
      ...none,
      metrics,
      findings: [alert(1), alert(2, { severity: 'critical' }), hacking],
    });
    expect(page).toContain(
      '<tr><th scope="row">Excessive repetition</th><td>1</td><td>1</td><td></td><td></td></tr>',
    );
    expect(page.indexOf('found at 2')).toBeLessThan(page.indexOf('found at 1'));
    const marked = (rule: string) => page.split(`<title>${rule}, step`).length - 1;
    expect([marked('excessive_repetition'), marked('suspected_reward_hacking')]).toEqual([2, 2]);
  });

  it('leaves out curves that hardly move, except for evidence', () => {
    const metrics = Array.from({ length: 10 }, (_, step) => ({
      step,
      metrics: { coherence: 0.97, lexical_diversity: step / 9, suspected_reward_hacking: 0.6 },
    }));
    const page = renderMonitorPage({ ...none, metrics });
    expect(page).not.toContain('<h3>Reads like text</h3>');
    expect(page).toContain('<h3>Different words</h3>');
    expect(page).toContain('<h3>Suspected reward hacking</h3>');
  });

  it('marks phrases as whole words', () => {
    const quoted = alert(1, {
      rule: 'suspected_reward_hacking',
      samples: ['20, 200 and x20'],
      phrases: ['20'],
    });
    const page = renderMonitorPage({ ...none, findings: [quoted] });
    expect(page).toContain('<mark>20</mark>, 200 and x20');
  });

  it('draws metrics as a logger receives them, under the namespace', () => {
    const metrics = [0, 1].map((step) => ({ step, metrics: { 'reward_quality/coherence': 1 } }));
    expect(renderMonitorPage({ ...none, metrics })).toContain('<h3>Reads like text</h3>');
  });

  it('draws the range and the deviation of every reward', () => {
    const reward = { reward_a_mean: 1, reward_a_std: 0.5, reward_a_min: -1, reward_a_max: 2 };
    const page = renderMonitorPage({ ...none, metrics: [0, 1].map((step) => ({ step, metrics: reward })) });
    expect(page).toContain('<h3>Reward: a</h3>');
    expect(page.match(/class="band"/g)).toHaveLength(2);
  });

  it('highlights what gave a response away', () => {
    const repeated = alert(1, { samples: ['one two three one two three'] });
    const shell = alert(1, { rule: 'format_gaming', samples: ['<answer>ok</answer>'] });
    const page = renderMonitorPage({ ...none, findings: [repeated, shell, alert(1, { samples: [''] })] });
    expect(page).toContain('one two three <mark>one</mark> <mark>two</mark> <mark>three</mark>');
    expect(page).toContain('&lt;answer&gt;<mark>ok</mark>&lt;/answer&gt;');
    expect(page).toContain('<mark>(empty)</mark>');
  });

  it('quotes responses with prompt, reward and components, and marks the phrases that they share', () => {
    const example = {
      response: 'so VERY kind',
      prompt: 'Two <b>?',
      reward: 1,
      components: { style: 0.5, total: 1 },
    };
    const found = alert(1, {
      rule: 'reward_behaviour_changed',
      samples: ['so VERY kind'],
      examples: [example],
      phrases: ['very kind'],
    });
    const page = renderMonitorPage({ ...none, findings: [found] });
    expect(page).toContain('so <mark>VERY kind</mark>');
    expect(page).toContain('Two &lt;b&gt;?');
    expect(page).toContain('>1, style 0.5<');
  });

  it('draws shares from 0 to 1, a line where alarms begin, and no chart that says nothing', () => {
    const metrics = [0, 1].map((step) => ({
      step,
      metrics: {
        suspected_reward_hacking: 0.6,
        format_compliance_rate: 0,
        coherence: 0.97,
        'hacking/length': 0.6,
        'hacking/digits': 0.1,
      },
    }));
    const page = renderMonitorPage({ ...none, metrics });
    expect(page).toContain('>alarm</text>');
    expect(page).toContain('<h3>Trait: length</h3>');
    for (const absent of ['Responses with tags', 'Trait: digits']) expect(page).not.toContain(absent);
    expect(page.match(/text-anchor="end">0<\/text>/g)!.length).toBeGreaterThan(2);
  });

  it('keeps whatever a model wrote from becoming markup', () => {
    const page = (text: string) =>
      renderMonitorPage({
        ...none,
        metrics: [{ step: 0, metrics: { coherence: 1, [`reward_x${text}_mean`]: 1 } }],
        findings: [alert(0, { message: text, samples: [`x${text}`], rule: `p${text}` })],
        notes: [{ step: 0, note: text }],
      });
    const expected = tags(page('plain')).length;
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', 'script') }), (text) => {
        expect(tags(page(text))).toHaveLength(expected);
      }),
    );
  });
});

describe('alertMarks', () => {
  it('draws alerts of one kind that follow each other as one mark', () => {
    const marks = alertMarks([alert(1), alert(2), alert(4), alert(9), alert(9, { severity: 'low' })]);
    expect(marks.map(({ from, to, level }) => [from, to, level])).toEqual([
      [1, 4, 'high'],
      [9, 9, 'high'],
      [9, 9, 'low'],
    ]);
  });
});

it('a long run has no more marks than its charts can show', () => {
  const marks = alertMarks(Array.from({ length: 10_000 }, (_, at) => alert(10 * at)));
  expect(marks.length).toBeLessThan(201);
  expect(marks.at(-1)!.to).toBe(99_990);
});

describe('RewardQualityDashboard', () => {
  it('makes a report, rows and columns of log files', async () => {
    const files = { metricsLogFile: join(directory, 'm.jsonl'), alertLogFile: join(directory, 'a.jsonl') };
    const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 1 });
    const monitor = new RewardQualityMonitor({ assessor, loggers: [monitorLogger(files)] });
    const responses = new Array<string>(20).fill('the same');
    monitor.monitorBatch({ responses, rewards: { a: responses.map(() => 1) } });
    monitor.monitorBatch({ responses, rewards: { a: responses.map(() => 1) }, extraMetrics: { extra: 7 } });
    await monitor.close();
    const dashboard = new RewardQualityDashboard(files);
    await dashboard.generateReport(join(directory, 'report.html'), { title: 'Mine' });
    await expect(dashboard.generateReport(directory)).rejects.toThrow();
    expect(existsSync(`${directory}.partial`)).toBe(false);
    expect(await readFile(join(directory, 'report.html'), 'utf8')).toContain('<h1>Mine</h1>');
    expect(existsSync(join(directory, 'report.html.partial'))).toBe(false);
    const rows = await dashboard.getMetricsRows();
    expect(rows.map(({ step, extra }) => [step, extra])).toEqual([
      [0, undefined],
      [1, 7],
    ]);
    const { step, columns } = await dashboard.getMetricsColumns();
    expect([step, columns.extra, columns.reward_a_mean]).toEqual([
      [0, 1],
      [null, 7],
      [1, 1],
    ]);
  });

  it('has no value for a metric named as a built-in where a step lacks it', async () => {
    const files = { metricsLogFile: join(directory, 'built-in.jsonl') };
    const monitor = new RewardQualityMonitor({ loggers: [monitorLogger(files)] });
    monitor.monitorBatch({ responses: ['one'], rewards: {} });
    monitor.monitorBatch({ responses: ['one'], rewards: {}, extraMetrics: { constructor: 7 } });
    await monitor.close();
    const { columns } = await new RewardQualityDashboard(files).getMetricsColumns();
    expect(columns.constructor).toEqual([null, 7]);
  });

  it('reads the files that a full one was moved to', async () => {
    const files = { metricsLogFile: join(directory, 'rotated.jsonl') };
    const monitor = new RewardQualityMonitor({ loggers: [monitorLogger({ ...files, maxBytes: 1024 })] });
    for (let step = 0; step < 6; step++) monitor.monitorBatch({ responses: ['one'], rewards: {} });
    await monitor.close();
    expect(existsSync(`${files.metricsLogFile}.1`)).toBe(true);
    const rows = await new RewardQualityDashboard(files).getMetricsRows();
    expect(rows.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('takes a file that is not there for an empty one', async () => {
    const dashboard = new RewardQualityDashboard({
      metricsLogFile: '/nowhere/m',
      alertLogFile: '/nowhere/a',
    });
    expect(await dashboard.readLogs()).toEqual(none);
  });
});
