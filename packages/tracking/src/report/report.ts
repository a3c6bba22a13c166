import { parseOptions } from '@rlp/core';
import {
  chartFigure,
  type Html,
  html,
  lineChart,
  renderPage,
  type Series,
  shortNumber,
  summaryList,
  valueTable,
} from '@rlp/page';
import * as z from 'zod';
import type { MetricRow } from '../metric-rows.ts';
import type { ReportSample } from './sample.ts';
import { sampleTable } from './tables.ts';

/** Also what a run measured of nothing. */
const anyNumber = z
  .number()
  .or(z.nan())
  .or(z.literal([Infinity, -Infinity]));

const rowSchema: z.ZodType<MetricRow> = z.preprocess(
  (row, context) => {
    if (typeof row === 'object' && row !== null && 'metrics' in row) return row;
    context.addIssue({
      code: 'custom',
      message:
        'expected { step, metrics }; of the history of a run, write history.map((metrics, step) => ({ step, metrics }))',
    });
    return z.NEVER;
  },
  z.strictObject({ step: z.number(), metrics: z.record(z.string(), anyNumber) }),
) as z.ZodType<MetricRow>;

const schema = z.strictObject({
  title: z.string().min(1),
  description: z.string().optional(),
  summary: z.record(z.string(), z.union([z.string(), anyNumber])).default({}),
  runs: z.array(z.strictObject({ name: z.string(), rows: z.array(rowSchema).readonly() })).readonly(),
  metrics: z.array(z.string()).readonly().optional(),
  samples: z
    .array(
      z.strictObject({
        prompt: z.string(),
        before: z.string(),
        after: z.string(),
        reference: z.string().optional(),
        rewardBefore: anyNumber.nullable().optional(),
        rewardAfter: anyNumber.nullable().optional(),
      }),
    )
    .readonly()
    .default([]),
});

/** A curve per metric. Several runs are drawn into the same charts. */
export interface ReportRun {
  readonly name: string;
  /** In the order of their steps. */
  readonly rows: readonly MetricRow[];
}

/** What a report shows. */
export interface ReportOptions {
  /** Heading of the page. Required. */
  readonly title: string;
  /** A sentence or two below the title. Default none. */
  readonly description?: string | undefined;
  /** Figures at the top, by label, in this order. Numbers are shortened. Default none. */
  readonly summary?: Readonly<Record<string, string | number>> | undefined;
  /** Runs whose curves are drawn. Required. */
  readonly runs: readonly ReportRun[];
  /** Metrics that are drawn, in this order. Default all, in order of appearance. */
  readonly metrics?: readonly string[] | undefined;
  /** Prompts with the answers before and after training. Default none. */
  readonly samples?: readonly ReportSample[] | undefined;
}

/**
 * Renders a run as one HTML page with figures, curves, samples before and after, and tables of all values.
 *
 * The page stands alone. Its content security policy forbids scripts and requests. It follows the reader's light or dark
 * theme, works by keyboard and prints well. Text of a model is escaped.
 *
 * @throws OptionsError naming every problem at once.
 */
export function renderReport(options: ReportOptions): string {
  const { title, description, summary, runs, metrics, samples } = parseOptions(
    'renderReport',
    schema,
    options,
  );
  const names = metrics ?? [
    ...new Set(runs.flatMap(({ rows }) => rows.flatMap((row) => Object.keys(row.metrics)))),
  ];
  const body = html`${summaryList(summary)}
${curves(runs, names)}
${samples.length === 0 ? '' : html`<section><h2>Samples</h2>${sampleTable(samples)}</section>`}`;
  return renderPage({ title, lead: description, body });
}

function curves(runs: readonly ReportRun[], names: readonly string[]): Html {
  const charts = names.map((name) => chart(name, runs)).filter(({ html }) => html !== '');
  if (charts.length === 0) return html`<p class="empty">No metrics were recorded.</p>`;
  const legend = runs.map(
    ({ name }, index) => html`<li class="series-${index % 6}"><span></span><b>${name}</b></li>`,
  );
  return html`<section><h2>Curves</h2>${runs.length > 1 ? html`<ul class="legend">${legend}</ul>` : ''}<div class="charts">${charts}</div>
${runs.map(({ name, rows }) => html`<details><summary>All values of ${name}</summary>${valueTable(name, rows, names)}</details>`)}</section>`;
}

function chart(name: string, runs: readonly ReportRun[]): Html {
  // A run keeps its colour in every chart, so runs without the metric stay in as empty series.
  const series = runs.map(
    (run): Series => ({
      name: run.name,
      points: run.rows.flatMap(({ step, metrics }) =>
        Object.hasOwn(metrics, name) ? [{ step, value: metrics[name]! }] : [],
      ),
    }),
  );
  const latest = series.flatMap(({ points }) => points.at(-1) ?? []);
  if (latest.length === 0) return html``;
  const figures = latest.map(({ value }) => shortNumber(value)).join(' · ');
  return chartFigure(name, lineChart(name, series), figures);
}
