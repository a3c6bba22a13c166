import type { Metrics, Severity } from '@rlp/core';
import * as z from 'zod';
import type { AlertRecord, InterventionRecord } from '../monitor/sink.ts';

const number = z.number().nullable();

const metricsLine = z.object({ step: z.number() }).catchall(number);

const alertLine = z.object({
  step: z.number(),
  timestamp: z.number(),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  pathology_type: z.string(),
  message: z.string(),
  metrics: z.record(z.string(), z.union([z.number(), z.string(), z.null()])).default({}),
  samples: z.array(z.string()).optional(),
});

const interventionLine = z.object({
  step: z.number(),
  intervention: z.string(),
  cause: z.string(),
  details: z.record(z.string(), z.unknown()).default({}),
});

/** One batch's metrics. */
export interface MetricsRecord {
  readonly step: number;
  readonly metrics: Metrics;
}

/** What the log files of a run hold. */
export interface MonitorLogs {
  readonly metrics: readonly MetricsRecord[];
  readonly alerts: readonly AlertRecord[];
  readonly interventions: readonly InterventionRecord[];
  /** Alerts that were raised before those and are not kept, as on a live page. */
  readonly olderAlerts?: number | undefined;
  /** Lines that are none of these, such as one that a crash cut short: left out. */
  readonly unreadable: number;
}

/**
 * Reads what {@link jsonlSink} wrote, given as text. Where steps begin again, as in a run that was resumed from before its end, the
 * later lines take the place of those from that step on.
 */
export function readMonitorLogs(texts: { readonly metrics?: string; readonly alerts?: string }): MonitorLogs {
  const metrics: MetricsRecord[] = [];
  const events: Event[] = [];
  let unreadable = 0;
  for (const { value } of linesOf(texts.metrics)) {
    const { success, data } = metricsLine.safeParse(value);
    if (success) {
      forgetFrom(data.step, metrics);
      metrics.push(metricsRecord(data));
    } else unreadable += 1;
  }
  for (const { line, value } of linesOf(texts.alerts)) {
    const event = eventOf(line, value);
    if (event === undefined) unreadable += 1;
    else remember(event, events);
  }
  return {
    metrics,
    alerts: events.flatMap(({ alert }) => alert ?? []),
    interventions: events.flatMap(({ intervention }) => intervention ?? []),
    unreadable,
  };
}

/** A line of the alerts' file. */
interface Event {
  readonly step: number;
  readonly line: string;
  readonly alert?: AlertRecord | undefined;
  readonly intervention?: InterventionRecord | undefined;
}

function eventOf(line: string, value: unknown): Event | undefined {
  const alert = alertLine.safeParse(value);
  if (alert.success) return { step: alert.data.step, line, alert: alertRecord(alert.data) };
  const intervention = interventionLine.safeParse(value);
  if (!intervention.success) return undefined;
  return { step: intervention.data.step, line, intervention: interventionRecord(intervention.data) };
}

/** A step has several lines; a line that is there already was written again by a run that was resumed. */
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

/** Each line with what it says, `undefined` for one that is no JSON. */
function* linesOf(text = ''): Generator<{ readonly line: string; readonly value: unknown }> {
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      yield { line, value: JSON.parse(line) };
    } catch {
      yield { line, value: undefined };
    }
  }
}

function metricsRecord({ step, ...metrics }: z.output<typeof metricsLine>): MetricsRecord {
  return { step, metrics: finite(metrics) };
}

function alertRecord({ pathology_type, metrics, samples, ...rest }: z.output<typeof alertLine>): AlertRecord {
  const { reward_name: rewardName } = metrics;
  return {
    ...rest,
    severity: rest.severity satisfies Severity,
    pathologyType: pathology_type,
    metrics: finite(metrics),
    ...(typeof rewardName === 'string' && { rewardName }),
    ...(samples !== undefined && { samples }),
  };
}

function interventionRecord({
  step,
  intervention,
  cause,
  details,
}: z.output<typeof interventionLine>): InterventionRecord {
  return { step, action: intervention, cause, details };
}

function finite(values: Readonly<Record<string, unknown>>): Metrics {
  const numbers = Object.entries(values).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return Object.fromEntries(numbers);
}
