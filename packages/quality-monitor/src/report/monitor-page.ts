import type { Finding } from '@rlp/core';
import {
  type ChartOptions,
  chartFigure,
  dataTable,
  type Html,
  html,
  lineChart,
  type Mark,
  renderPage,
  type Series,
  shortNumber,
  summaryList,
  valueTable,
} from '@rlp/page';
import { severities } from '../assessor/alert-counts.ts';
import { isPathology } from '../assessor/pathology.ts';
import type { MonitorLogs } from '../files/read-logs.ts';
import { withoutNamespace } from '../monitor/logged.ts';
import { alertMarks } from './alert-marks.ts';
import { flaggedResponses } from './flagged-responses.ts';
import { chartOf, chartTitles, ruleTitle, traitPrefix } from './titles.ts';

/** Options of {@link renderMonitorPage}. */
export interface MonitorPageOptions {
  /** Default `Reward quality`. */
  readonly title?: string | undefined;
  /** Sentences below the title. Default: the range of steps. */
  readonly lead?: string | undefined;
}

const worstFirst = severities.toReversed();

/** Newest alerts and notes shown in their tables. */
const mostShown = 50;

/** Most traits drawn, and least evidence of one. */
const [mostTraits, leastEvidence] = [6, 0.25];
/** Least distance from its beginning that a curve must reach to be drawn. */
const leastMove = 0.03;
/** Where alarms begin. */
const alarmLevel = 0.5;

/**
 * Renders a monitor's logs as one self-contained HTML page.
 *
 * The page shows alerts by severity and rule, notes, and curves with the alerts marked. It also shows the distribution of each
 * reward, flagged responses and all values as tables.
 */
export function renderMonitorPage(logs: MonitorLogs, options: MonitorPageOptions = {}): string {
  const { title = 'Reward quality', lead = describeLogs(logs) } = options;
  const metrics = logs.metrics.map((row) => ({ ...row, metrics: withoutNamespace(row.metrics) }));
  return renderPage({ title, lead, body: monitorPageBody({ ...logs, metrics }) });
}

/** The page below its title. A live page replaces it during the run. */
export function monitorPageBody(logs: MonitorLogs): Html {
  return html`${summaryList(figures(logs))}
${alertSection(logs)}
${qualitySection(logs)}
${rewardSection(logs)}
${flaggedResponses(logs.findings)}
${valuesSection(logs)}`;
}

function describeLogs({ metrics, unreadable }: MonitorLogs): string {
  const [first, last] = [metrics[0], metrics.at(-1)];
  const range = first === undefined ? 'No batches yet.' : `Steps ${first.step} to ${last!.step}.`;
  return unreadable === 0 ? range : `${range} ${unreadable} unreadable lines of the log files were skipped.`;
}

function figures(logs: MonitorLogs): Record<string, string | number> {
  const { metrics, findings, olderFindings = 0 } = logs;
  const latest = metrics.at(-1)?.metrics ?? {};
  const held = metrics.reduce((sum, row) => sum + (row.metrics.alerts_held ?? 0), 0);
  const counts = worstFirst.map((severity) => findings.filter((one) => one.severity === severity).length);
  return {
    'last step': metrics.at(-1)?.step ?? 'none yet',
    alerts: findings.length,
    ...(olderFindings > 0 && { 'older alerts, not shown': olderFindings }),
    ...(held > 0 && { 'alerts held by the rate limit': held }),
    'critical / high': `${counts[0]} / ${counts[1]}`,
    ...(latest.suspected_reward_hacking !== undefined && {
      'suspected hacking, last': latest.suspected_reward_hacking,
    }),
    ...(hasTags(logs) && {
      'responses with tags, last': `${(100 * (latest.format_compliance_rate ?? 0)).toFixed(1)} %`,
    }),
    ...(latest.window_diversity !== undefined && { 'diversity, last': latest.window_diversity }),
  };
}

function alertSection({ findings, notes }: MonitorLogs): Html {
  const shown =
    findings.length === 0 ? html`<p class="empty">No alerts were reported.</p>` : alertTables(findings);
  return html`<section><h2>Alerts</h2>
${shown}
${notes.length === 0 ? '' : noteTable(notes)}</section>`;
}

function noteTable(notes: MonitorLogs['notes']): Html {
  const recent = notes.slice(-mostShown).reverse();
  const rows = recent.map(
    ({ step, note }) =>
      html`<tr><th scope="row" data-label="Step">${step}</th><td class="text">${note}</td></tr>`,
  );
  const caption = 'Requested interventions, newest first';
  const table = dataTable({ caption, label: 'Notes', columns: ['Step', 'Note'], rows, kind: 'stack' });
  return html`<details open><summary>Notes</summary>${omitted(recent, notes)}${table}</details>`;
}

function alertTables(findings: readonly Finding[]): Html {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort();
  const rows = rules.map((rule) => {
    const cells = worstFirst.map((severity) => {
      const count = findings.filter((one) => one.rule === rule && one.severity === severity).length;
      return html`<td>${count === 0 ? '' : count}</td>`;
    });
    return html`<tr><th scope="row">${ruleTitle(rule)}</th>${cells}</tr>`;
  });
  const recent = findings.slice(-mostShown).reverse();
  const counts = dataTable({
    ...{ caption: 'Alerts by rule and severity', columns: ['Rule', ...worstFirst], rows, height: 'tall' },
  });
  const table = dataTable({
    ...{ caption: 'Recent alerts, newest first', label: 'Recent alerts', kind: 'stack', height: 'tall' },
    columns: ['Step', 'Severity', 'Rule', 'What was found'],
    rows: recent.map((one, at) => alertRow(one, at === 0 ? 'open' : 'closed')),
  });
  return html`${counts}
<details open><summary>Recent alerts</summary>${omitted(recent, findings)}${table}</details>`;
}

function omitted(shown: readonly unknown[], all: readonly unknown[]): Html {
  return shown.length === all.length
    ? html``
    : html`<p class="empty">The last ${shown.length} of ${all.length}.</p>`;
}

function alertRow({ iteration, severity, rule, message, note }: Finding, advised: 'open' | 'closed'): Html {
  const advice =
    note === undefined
      ? ''
      : html`<details${advised === 'open' ? html` open` : ''}><summary>What to do</summary><ul>${note.mitigation.map((one) => html`<li>${one}</li>`)}</ul></details>`;
  return html`<tr><th scope="row" data-label="Step">${iteration}</th><td><span class="badge badge-${severity}">${severity}</span></td><td>${ruleTitle(rule)}</td><td class="text">${message}.${advice}</td></tr>`;
}

function qualitySection(logs: MonitorLogs): Html {
  const names = Object.keys(chartTitles).filter((name) => !isTagMetric(name) || hasTags(logs));
  const charts = [...names, ...conspicuousTraits(logs)].flatMap((name) => {
    const series = seriesOf(logs, name, name);
    const isEvidence = name.startsWith(traitPrefix) || name.endsWith('_hacking') || name.endsWith('_changed');
    if (saysNothing(series, isEvidence ? 0 : leastMove)) return [];
    const { title, axis, marked } = chartOf(name);
    const marks = marksOf(logs, ({ rule }) => marked.some((one) => one === rule));
    const level = isEvidence
      ? { value: alarmLevel, name: name.endsWith('_hacking') ? 'alarm' : 'suspicion' }
      : undefined;
    return [figure(title, [series], { marks, axis, level })];
  });
  return charts.length === 0
    ? html``
    : html`<section><h2>Quality</h2>${legendOf(logs)}<div class="charts">${charts}</div></section>`;
}

/** Whether a curve is 0, or moves no more than `still` in ten batches or more. */
function saysNothing({ points }: Series, still: number): boolean {
  const values = points.map(({ value }) => value);
  const isStill = values.every((value) => Math.abs(value - values[0]!) < still);
  return values.every((value) => value === 0) || (isStill && values.length >= 10);
}

function isTagMetric(name: string): boolean {
  return /format|reasoning|answer/.test(name);
}

/** Whether any response had tags. Without tags their metrics say nothing. */
function hasTags({ metrics }: MonitorLogs): boolean {
  return metrics.some((row) => (row.metrics.format_compliance_rate ?? 0) > 0);
}

/** The traits with the most evidence. */
function conspicuousTraits({ metrics }: MonitorLogs): string[] {
  const most = new Map<string, number>();
  for (const row of metrics) {
    for (const [name, value] of Object.entries(row.metrics)) {
      if (!name.startsWith(traitPrefix)) continue;
      most.set(name, Math.max(value, most.get(name) ?? 0));
    }
  }
  const found = [...most].filter(([, value]) => value >= leastEvidence).sort((a, b) => b[1] - a[1]);
  return found.slice(0, mostTraits).map(([name]) => name);
}

/** Marks the findings that a chart concerns, and those of detectors, which concern the whole run. */
function marksOf({ findings }: MonitorLogs, concerns: (finding: Finding) => boolean): Mark[] {
  return alertMarks(findings.filter((finding) => concerns(finding) || !isPathology(finding.rule)));
}

function legendOf({ findings }: MonitorLogs): Html {
  const raised = worstFirst.filter((level) => findings.some(({ severity }) => severity === level));
  if (raised.length === 0) return html``;
  const items = raised.map((level) => html`<li class="badge-${level}"><span></span><b>${level}</b></li>`);
  return html`<ul class="legend"><li>Bands mark alerts</li>${items}</ul>`;
}

/** Rewards with statistics. */
function rewardNames({ metrics }: MonitorLogs): string[] {
  const names = metrics
    .flatMap((row) => Object.keys(row.metrics))
    .flatMap((key) => /^reward_(.+)_mean$/.exec(key)?.[1] ?? []);
  return [...new Set(names)];
}

/** Mean, deviation and range of each reward. */
function rewardSection(logs: MonitorLogs): Html {
  const charts = rewardNames(logs).map((name) => {
    const points = logs.metrics.flatMap(({ step, metrics }) => {
      const of = (kind: string) => metrics[`reward_${name}_${kind}`];
      const [value, deviation = 0] = [of('mean'), of('std')];
      if (value === undefined) return [];
      return [{ step, value, deviation, low: of('min') ?? value, high: of('max') ?? value }];
    });
    const within = points.map(({ step, value, deviation }) => ({
      ...{ step, low: value - deviation, high: value + deviation },
    }));
    const series = [
      { name: `${name}: mean, one deviation`, points, band: within },
      { name: 'smallest to largest', points: [], band: points },
    ];
    const marks = marksOf(logs, ({ component }) => component === name);
    return figure(`Reward: ${name}`, series, { marks });
  });
  return charts.length === 0
    ? html``
    : html`<section><h2>Rewards over their windows</h2><div class="charts">${charts}</div></section>`;
}

function seriesOf({ metrics }: MonitorLogs, metric: string, name: string): Series {
  const points = metrics.flatMap((row) => {
    // A trait without evidence is not logged.
    const value = row.metrics[metric] ?? (metric.startsWith(traitPrefix) ? 0 : undefined);
    return value === undefined ? [] : [{ step: row.step, value }];
  });
  return { name, points };
}

function figure(title: string, series: readonly Series[], options: ChartOptions): Html {
  const last = series[0]?.points.at(-1);
  return chartFigure(title, lineChart(title, series, options), last && shortNumber(last.value));
}

function valuesSection({ metrics }: MonitorLogs): Html {
  if (metrics.length === 0) return html``;
  const names = [...new Set(metrics.flatMap((row) => Object.keys(row.metrics)))];
  return html`<section><h2>Values</h2><details><summary>All metrics by step</summary>${valueTable('the monitor', metrics, names)}</details></section>`;
}
