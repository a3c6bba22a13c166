import { type Finding, severities } from '@rlp/core';
import {
  type ChartOptions,
  chartFigure,
  dataTable,
  type Html,
  html,
  lineChart,
  type Mark,
  type Point,
  renderPage,
  type Series,
  shortNumber,
  summaryList,
  type TableContent,
  valueTable,
} from '@rlp/page';
import { percent } from '../assessor/number-format.ts';
import { isPathology } from '../assessor/pathology.ts';
import type { MonitorLogs } from '../files/read-logs.ts';
import { withoutNamespace } from '../monitor/logged.ts';
import { alertMarks } from './alert-marks.ts';
import { flaggedResponses } from './flagged-responses.ts';
import { chartsOf, ruleTitle, traitPrefix } from './titles.ts';

/** Options of {@link renderMonitorPage}. */
export interface MonitorPageOptions {
  /** Default `Reward quality`. */
  readonly title?: string | undefined;
}

const worstFirst = severities.toReversed();

/** Newest alerts and notes shown in their tables. */
const mostShown = 50;

/** Most traits drawn, and least evidence of one. */
const [mostTraits, leastEvidence] = [6, 0.25];
/** Least distance from its beginning that a curve must reach to be drawn, and where alarms begin. */
const [leastMove, alarmLevel] = [0.03, 0.5];

/**
 * Renders a monitor's logs as one self-contained HTML page.
 *
 * The page shows alerts by severity and rule, notes, and curves with the alerts marked. It also shows the distribution of each
 * reward, flagged responses and all values as tables.
 */
export function renderMonitorPage(
  logs: MonitorLogs,
  { title = 'Reward quality' }: MonitorPageOptions = {},
): string {
  const metrics = logs.metrics.map((row) => ({ ...row, metrics: withoutNamespace(row.metrics) }));
  return renderPage({ title, lead: describeLogs(logs), body: monitorPageBody({ ...logs, metrics }) });
}

/** The page below its title. A live page replaces it during the run. */
export function monitorPageBody(logs: MonitorLogs): Html {
  const names = [...new Set(logs.metrics.flatMap(({ metrics }) => Object.keys(metrics)))];
  return html`${summaryList(figures(logs))}
${alertSection(logs)}
${chartSection('Quality', legendOf(logs), qualityCharts(logs, names))}
${chartSection('Rewards over their windows', html``, rewardCharts(logs, names))}
${flaggedResponses(logs.findings)}
${names.length === 0 ? '' : html`<section><h2>Values</h2><details><summary>All metrics by step</summary>${valueTable('the monitor', logs.metrics, names)}</details></section>`}`;
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
    'suspected hacking, last': latest.suspected_reward_hacking ?? 'not looked for',
    ...(hasTags(logs) && { 'responses with tags, last': percent(latest.format_compliance_rate ?? 0) }),
    ...(latest.window_diversity !== undefined && { 'diversity, last': latest.window_diversity }),
  };
}

function alertSection({ metrics, findings, notes }: MonitorLogs): Html {
  const isCompared = metrics.some((row) => row.metrics.suspected_reward_hacking !== undefined);
  const alerts = html`${countTable(findings)}
${newestTable('Recent alerts', findings, ['Step', 'Severity', 'Rule', 'What was found'], (one) => [
  one.iteration,
  html`<span class="badge badge-${one.severity}">${one.severity}</span>`,
  ruleTitle(one.rule),
  html`${one.message}.${adviceOf(one, one === findings.at(-1) ? 'open' : 'closed')}`,
])}`;
  const noteTable = newestTable('Notes', notes, ['Step', 'Note'], ({ step, note }) => [step, note]);
  return html`<section><h2>Alerts</h2>
${findings.length === 0 ? html`<p class="empty">No alerts were reported.${isCompared ? '' : ' Reward hacking was not looked for.'}</p>` : alerts}
${notes.length === 0 ? '' : noteTable}</section>`;
}

function countTable(findings: readonly Finding[]): Html {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort();
  const rows = rules.map((rule) => {
    const own = findings.filter((one) => one.rule === rule);
    const counts = worstFirst.map((level) => own.filter(({ severity }) => severity === level).length || '');
    return [ruleTitle(rule), ...counts];
  });
  return dataTable({
    caption: 'Alerts by rule and severity',
    columns: ['Rule', ...worstFirst],
    rows,
    height: 'tall',
  });
}

/** A table of the newest records that unfolds. */
function newestTable<One>(
  label: string,
  all: readonly One[],
  columns: readonly string[],
  cells: (one: One) => TableContent['rows'][number],
): Html {
  const rows = all.slice(-mostShown).reverse().map(cells);
  const shown = html`<p class="empty">The last ${rows.length} of ${all.length}.</p>`;
  const head = { caption: `${label}, newest first`, label, columns };
  const table = dataTable({ ...head, rows, kind: 'stack', height: 'tall' });
  return html`<details open><summary>${label}</summary>${rows.length === all.length ? '' : shown}${table}</details>`;
}

function adviceOf({ note }: Finding, state: 'open' | 'closed'): Html {
  if (note === undefined) return html``;
  const items = note.mitigation.map((one) => html`<li>${one}</li>`);
  return html`<details${state === 'open' ? html` open` : ''}><summary>What to do</summary><ul>${items}</ul></details>`;
}

function chartSection(title: string, legend: Html, charts: readonly Html[]): Html {
  if (charts.length === 0) return html``;
  return html`<section><h2>${title}</h2>${legend}<div class="charts">${charts}</div></section>`;
}

function legendOf({ findings }: MonitorLogs): Html {
  const raised = worstFirst.filter((level) => findings.some(({ severity }) => severity === level));
  if (raised.length === 0) return html``;
  const items = raised.map((level) => html`<li class="badge-${level}"><span></span><b>${level}</b></li>`);
  return html`<ul class="legend"><li>Bands mark alerts</li>${items}</ul>`;
}

function qualityCharts(logs: MonitorLogs, names: readonly string[]): Html[] {
  return chartsOf(conspicuousTraits(logs, names)).flatMap(([name, { title, axis, level, needs, marked }]) => {
    const points = pointsOf(logs, name);
    if (saysNothing(points, level ? 0 : leastMove) || (needs === 'tags' && !hasTags(logs))) return [];
    const marks = marksOf(logs, ({ rule }) => marked.some((one) => one === rule));
    const line = level && { value: alarmLevel, name: level };
    return [figure(title, [{ name, points }], { marks, axis, level: line })];
  });
}

/** Mean, deviation and range of each reward. */
function rewardCharts(logs: MonitorLogs, names: readonly string[]): Html[] {
  return names.flatMap((metric) => {
    const name = /^reward_(.+)_mean$/.exec(metric)?.[1];
    if (name === undefined) return [];
    const points = logs.metrics.flatMap(({ step, metrics }) => {
      const of = (kind: string) => metrics[`reward_${name}_${kind}`];
      const [value, deviation = 0] = [of('mean'), of('std')];
      if (value === undefined) return [];
      return [{ step, value, deviation, low: of('min') ?? value, high: of('max') ?? value }];
    });
    const within = points.map(({ step, value, deviation: d }) => ({ step, low: value - d, high: value + d }));
    const series = [
      { name: `${name}: mean, one deviation`, points, band: within },
      { name: 'smallest to largest', points: [], band: points },
    ];
    const marks = marksOf(logs, ({ component }) => component === name);
    return [figure(`Reward: ${name}`, series, { marks })];
  });
}

function pointsOf({ metrics }: MonitorLogs, name: string): Point[] {
  return metrics.flatMap((row) => {
    // A trait without evidence is not logged.
    const value = row.metrics[name] ?? (name.startsWith(traitPrefix) ? 0 : undefined);
    return value === undefined ? [] : [{ step: row.step, value }];
  });
}

/** Whether a curve is 0, or moves no more than `still` in ten batches or more. */
function saysNothing(points: readonly Point[], still: number): boolean {
  const isStill = points.every(({ value }) => Math.abs(value - points[0]!.value) < still);
  return points.every(({ value }) => value === 0) || (isStill && points.length >= 10);
}

/** Whether any response had tags. Without tags their metrics say nothing. */
function hasTags({ metrics }: MonitorLogs): boolean {
  return metrics.some((row) => (row.metrics.format_compliance_rate ?? 0) > 0);
}

/** The traits with the most evidence. */
function conspicuousTraits(logs: MonitorLogs, names: readonly string[]): string[] {
  const traits = names.filter((name) => name.startsWith(traitPrefix));
  const peakOf = (name: string) => pointsOf(logs, name).reduce((most, { value }) => Math.max(most, value), 0);
  const peaks = new Map(traits.map((name) => [name, peakOf(name)]));
  const found = traits.filter((name) => peaks.get(name)! >= leastEvidence);
  return found.sort((a, b) => peaks.get(b)! - peaks.get(a)!).slice(0, mostTraits);
}

/** Marks the findings that a chart concerns, and those of detectors, which concern the whole run. */
function marksOf({ findings }: MonitorLogs, concerns: (finding: Finding) => boolean): Mark[] {
  return alertMarks(findings.filter((finding) => concerns(finding) || !isPathology(finding.rule)));
}

function figure(title: string, series: readonly Series[], options: ChartOptions): Html {
  const last = series[0]?.points.at(-1);
  return chartFigure(title, lineChart(title, series, options), last && shortNumber(last.value));
}
