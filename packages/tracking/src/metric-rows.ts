import {
  FormatError,
  findingSchema,
  type LogRow,
  loggedSampleSchema,
  type Metrics,
  OptionsError,
  parseOptions,
  requireArguments,
  requireFields,
} from '@rlp/core';
import { parseJsonLines } from '@rlp/data';
import * as z from 'zod';

/** The metrics of one iteration. */
export interface MetricRow {
  readonly step: number;
  readonly metrics: Metrics;
}

const nonFinite = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

const numbers = z.record(
  z.string(),
  z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity']).transform((name) => nonFinite[name])]),
);

const step = z.number();

/** Evidence is read as metrics are, then the finding as everywhere else. */
const finding = z.looseObject({ evidence: numbers }).transform((value, context) => {
  const found = findingSchema.safeParse({ ...value, evidence: {} });
  if (found.success) return { ...found.data, evidence: value.evidence };
  for (const { message, path } of found.error.issues) context.addIssue({ code: 'custom', message, path });
  return z.NEVER;
});

const rowSchemas = {
  metrics: z.strictObject({ step, metrics: numbers }),
  note: z.strictObject({ step, note: z.string() }),
  samples: z.strictObject({ step, samples: z.array(loggedSampleSchema) }),
  finding: z.strictObject({ step, finding }),
};

/**
 * One row as a line of JSON. Numbers that JSON does not know are written as their names. A reward of a sample that is not
 * finite becomes `null`.
 */
export function logRowToLine(row: LogRow): string {
  if ('samples' in requireFields('logRowToLine', {}, row)) return JSON.stringify(row);
  return JSON.stringify(row, (_, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );
}

/**
 * Reads the file of a `JsonlLogger`. Metrics, notes, samples and findings come in the order of the file. Empty lines are skipped.
 *
 * @param source - Names the text in errors, such as its file.
 * @throws FormatError naming source and line of the first malformed row.
 */
export function logRowsFromJsonl(text: string, source = 'log'): LogRow[] {
  requireArguments('logRowsFromJsonl', { text: 'text', source: 'text?' }, text, source);
  const lines = parseJsonLines(text, { source, expected });
  return Array.from(lines, ({ number, value }) => parseRow(value, `${source}, line ${number}`));
}

const expected = '{"step", "metrics"} as JSON, or "note", "samples" or "finding" in place of "metrics"';

/**
 * Reads the metrics among what a `JsonlLogger` wrote. If a step occurs twice (a run was resumed before it), its last row
 * counts. Rows come back in the order of their steps.
 *
 * @param source - Names the text in errors, such as its file.
 * @throws FormatError naming source and line of the first malformed row.
 */
export function metricRowsFromJsonl(text: string, source = 'metrics'): MetricRow[] {
  requireArguments('metricRowsFromJsonl', { text: 'text', source: 'text?' }, text, source);
  const rows = new Map<number, MetricRow>();
  for (const row of logRowsFromJsonl(text, source)) if ('metrics' in row) rows.set(row.step, row);
  return [...rows.values()].sort((a, b) => a.step - b.step);
}

function parseRow(row: unknown, place: string): LogRow {
  try {
    return parseOptions<LogRow>(place, rowSchemas[kindOf(row)], row);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw new FormatError(`${place}: expected ${expected}: ${error.issues.join('; ')}`, { cause: error });
  }
}

function kindOf(row: unknown): keyof typeof rowSchemas {
  const fields = typeof row === 'object' && row !== null ? Object.keys(row) : [];
  const kind = (['note', 'samples', 'finding'] as const).find((field) => fields.includes(field));
  return kind ?? 'metrics';
}
