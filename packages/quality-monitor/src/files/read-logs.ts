import type { Metrics, Severity } from '@rlp/core';
import { z } from 'zod';
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
  /** Lines that are none of these, such as one that a crash cut short: left out. */
  readonly unreadable: number;
}

/** Reads what {@link jsonlSink} wrote, given as text. */
export function readMonitorLogs(texts: { readonly metrics?: string; readonly alerts?: string }): MonitorLogs {
  const logs = {
    metrics: [] as MetricsRecord[],
    alerts: [] as AlertRecord[],
    interventions: [] as InterventionRecord[],
    unreadable: 0,
  };
  for (const line of linesOf(texts.metrics)) {
    const parsed = metricsLine.safeParse(line);
    if (parsed.success) logs.metrics.push(metricsRecord(parsed.data));
    else logs.unreadable += 1;
  }
  for (const line of linesOf(texts.alerts)) {
    const alert = alertLine.safeParse(line);
    const intervention = interventionLine.safeParse(line);
    if (alert.success) logs.alerts.push(alertRecord(alert.data));
    else if (intervention.success) logs.interventions.push(interventionRecord(intervention.data));
    else logs.unreadable += 1;
  }
  return logs;
}

/** `undefined` for a line that is no JSON. */
function* linesOf(text = ''): Generator<unknown> {
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    try {
      yield JSON.parse(line);
    } catch {
      yield undefined;
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
