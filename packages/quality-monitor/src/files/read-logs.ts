import { type Finding, findingSchema, isRecord, type Metrics } from '@rlp/core';
import { parseJsonLines } from '@rlp/data';
import { isPathology, pathologyNotes } from '../assessor/pathology.ts';

/** Metrics of one batch. */
export interface MetricsRecord {
  readonly step: number;
  readonly metrics: Metrics;
}

/** A note of one batch. */
export interface NoteRecord {
  readonly step: number;
  readonly note: string;
}

/** Contents of a run's log files. */
export interface MonitorLogs {
  readonly metrics: readonly MetricsRecord[];
  readonly findings: readonly Finding[];
  readonly notes: readonly NoteRecord[];
  /** Earlier findings that were not kept, as on a live page. */
  readonly olderFindings?: number | undefined;
  /** Lines that were skipped, such as one that a crash cut short. */
  readonly unreadable: number;
}

/**
 * Reads the log files of `monitorLogger`, given as text.
 *
 * If steps begin again, as after a resumed run, the later lines replace those from that step on.
 */
export function readMonitorLogs(texts: { readonly metrics?: string; readonly alerts?: string }): MonitorLogs {
  const metrics = readSteps(texts.metrics, metricsOf, 'one');
  const alerts = readSteps(texts.alerts, alertOf, 'several');
  return {
    metrics: metrics.rows,
    findings: alerts.rows.flatMap((row) => ('finding' in row ? row.finding : [])),
    notes: alerts.rows.flatMap((row) => ('note' in row ? row : [])),
    unreadable: metrics.unreadable + alerts.unreadable,
  };
}

/** Reads a log of one row or several per step. A resumed run may repeat a line, which counts once. */
function readSteps<Row extends { readonly step: number }>(
  log = '',
  rowOf: (value: Readonly<Record<string, unknown>>) => Row | undefined,
  perStep: 'one' | 'several',
) {
  const read: { readonly line: string; readonly row: Row }[] = [];
  let unreadable = 0;
  const skip = () => {
    unreadable += 1;
  };
  for (const { text: line, value } of parseJsonLines(log, { onMalformed: skip })) {
    const row = isRecord(value) ? rowOf(value) : undefined;
    const before = read.at(-1)?.row.step ?? Number.NEGATIVE_INFINITY;
    if (row === undefined) skip();
    else if (row.step < before || (row.step === before && perStep === 'one')) {
      const kept = read.findLastIndex((earlier) => earlier.row.step < row.step) + 1;
      read.splice(kept, read.length, { line, row });
    } else {
      const same = read.findLast((earlier) => earlier.row.step !== row.step || earlier.line === line);
      if (same?.line !== line) read.push({ line, row });
    }
  }
  return { rows: read.map(({ row }) => row), unreadable };
}

function metricsOf({ step, ...metrics }: Readonly<Record<string, unknown>>): MetricsRecord | undefined {
  return typeof step === 'number' ? { step, metrics: finite(metrics) } : undefined;
}

type Alert = NoteRecord | { readonly step: number; readonly finding: Finding };

function alertOf(line: Readonly<Record<string, unknown>>): Alert | undefined {
  const { step, timestamp, pathology_type: rule, metrics, note, ...rest } = line;
  if (typeof rule !== 'string') {
    return typeof step === 'number' && typeof note === 'string' ? { step, note } : undefined;
  }
  const evidence = isRecord(metrics) ? metrics : {};
  const { data: finding } = findingSchema.safeParse({
    ...rest,
    rule,
    evidence: finite(evidence),
    iteration: step,
    responsesSeen: timestamp,
    component: typeof evidence.reward_name === 'string' ? evidence.reward_name : undefined,
    note: isPathology(rule) ? pathologyNotes[rule] : note,
  });
  return finding && { step: finding.iteration, finding };
}

function finite(values: Readonly<Record<string, unknown>>): Metrics {
  const numbers = Object.entries(values).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(numbers) as Metrics;
}
