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
  const metrics: MetricsRecord[] = [];
  const events: Event[] = [];
  let unreadable = 0;
  const onMalformed = () => {
    unreadable += 1;
  };
  for (const { value } of parseJsonLines(texts.metrics ?? '', { onMalformed })) {
    const { step, ...rest } = isRecord(value) ? value : {};
    if (typeof step === 'number') {
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
  const { step, timestamp, pathology_type: rule, metrics, note, ...rest } = isRecord(value) ? value : {};
  if (typeof rule !== 'string') {
    const isNote = typeof step === 'number' && typeof note === 'string';
    return isNote ? { step, line, note: { step, note } } : undefined;
  }
  const evidence = isRecord(metrics) ? metrics : {};
  const { success, data } = findingSchema.safeParse({
    ...rest,
    rule,
    evidence: finite(evidence),
    iteration: step,
    responsesSeen: timestamp,
    component: typeof evidence.reward_name === 'string' ? evidence.reward_name : undefined,
    note: isPathology(rule) ? pathologyNotes[rule] : note,
  });
  return success ? { step: data.iteration, line, finding: data } : undefined;
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

function finite(values: Readonly<Record<string, unknown>>): Metrics {
  const numbers = Object.entries(values).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return Object.fromEntries(numbers);
}
