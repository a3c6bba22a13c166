import { type Finding, findingSchema, type Metrics } from '@rlp/core';
import { parseJsonLines } from '@rlp/data';
import * as z from 'zod';
import { isPathology, pathologyNotes } from '../assessor/pathology.ts';
import { severities } from '../monitor/options.ts';

const metricsLine = z.object({ step: z.number() }).catchall(z.number().nullable());

const findingLine = z.object({
  step: z.number(),
  timestamp: z.number(),
  severity: z.enum(severities),
  pathology_type: z.string(),
  message: z.string(),
  metrics: z.record(z.string(), z.union([z.number(), z.string(), z.null()])).default({}),
  trajectories: z.unknown().optional(),
  samples: z.unknown().optional(),
  examples: z.unknown().optional(),
  phrases: z.unknown().optional(),
  note: z.unknown().optional(),
});

const noteLine = z.object({ step: z.number(), note: z.string() });

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
  const metrics: MetricsRecord[] = [];
  const events: Event[] = [];
  let unreadable = 0;
  const onMalformed = () => {
    unreadable += 1;
  };
  for (const { value } of parseJsonLines(texts.metrics ?? '', { onMalformed })) {
    const { success, data } = metricsLine.safeParse(value);
    if (success) {
      const { step, ...rest } = data;
      forgetFrom(step, metrics);
      metrics.push({ step, metrics: finite(rest) });
    } else unreadable += 1;
  }
  for (const { text: line, value } of parseJsonLines(texts.alerts ?? '', { onMalformed })) {
    const event = eventOf(line, value);
    if (event === undefined) unreadable += 1;
    else remember(event, events);
  }
  return {
    metrics,
    findings: events.flatMap(({ finding }) => finding ?? []),
    notes: events.flatMap(({ note }) => note ?? []),
    unreadable,
  };
}

/** A line of the file of findings and notes. */
interface Event {
  readonly step: number;
  readonly line: string;
  readonly finding?: Finding;
  readonly note?: NoteRecord;
}

function eventOf(line: string, value: unknown): Event | undefined {
  const finding = findingLine.safeParse(value);
  if (finding.success) {
    const { success, data } = findingSchema.safeParse(findingOf(finding.data));
    return success ? { step: data.iteration, line, finding: data } : undefined;
  }
  const note = noteLine.safeParse(value);
  return note.success ? { step: note.data.step, line, note: note.data } : undefined;
}

/** A step has several lines. A resumed run may repeat a line, which counts once. */
function remember(event: Event, events: Event[]): void {
  if (event.step < (events.at(-1)?.step ?? event.step)) forgetFrom(event.step, events);
  for (let at = events.length - 1; at >= 0 && events[at]!.step === event.step; at--) {
    if (events[at]!.line === event.line) return;
  }
  events.push(event);
}

function forgetFrom(step: number, records: { readonly step: number }[]): void {
  while (records.length > 0 && records.at(-1)!.step >= step) records.pop();
}

function findingOf(line: z.output<typeof findingLine>): Record<string, unknown> {
  const { step, timestamp, severity, pathology_type: rule, message, metrics } = line;
  const { trajectories, samples, examples, phrases } = line;
  const note = isPathology(rule) ? pathologyNotes[rule] : line.note;
  return {
    rule,
    severity,
    message,
    evidence: finite(metrics),
    iteration: step,
    responsesSeen: timestamp,
    ...(typeof metrics.reward_name === 'string' && { component: metrics.reward_name }),
    ...present({ trajectories, samples, examples, phrases, note }),
  };
}

/** Fields that have a value. */
function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function finite(values: Readonly<Record<string, unknown>>): Metrics {
  const numbers = Object.entries(values).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return Object.fromEntries(numbers);
}
