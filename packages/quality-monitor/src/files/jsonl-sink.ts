import { type Metrics, parseOptions } from '@rlp/core';
import * as z from 'zod';
import type { AlertRecord, InterventionRecord, MonitorSink } from '../monitor/sink.ts';
import { RotatingFile } from './rotating-file.ts';

const schema = z.strictObject({
  alertLogFile: z.string().min(1).optional(),
  metricsLogFile: z.string().min(1).optional(),
  maximumBytes: z
    .int()
    .min(1024)
    .default(64 * 1024 * 1024),
  keep: z.int().min(0).default(3),
});

/**
 * Options of {@link jsonlSink}.
 *
 * - `alertLogFile`, `metricsLogFile` (none): where alerts and interventions, and where metrics go.
 * - `maximumBytes` (64 MiB): a file that would grow beyond it moves to `file.1`, that to `file.2`…
 * - `keep` (3): how many of those stay.
 */
export type JsonlSinkOptions = z.input<typeof schema>;

/**
 * Writes JSON Lines: `{"step","timestamp","severity","pathology_type","message","metrics"}` for each alert, a line with
 * `"intervention"` for each intervention, and a flat `{"step", …}` of metrics for each batch.
 *
 * A line is with the operating system before the next batch; one that a crash or a full disk cut short is ended before the next.
 *
 * @throws OptionsError for bad options.
 */
export function jsonlSink(options: JsonlSinkOptions): MonitorSink {
  const { alertLogFile, metricsLogFile, ...limits } = parseOptions('jsonlSink', schema, options);
  const open = (path: string | undefined) =>
    path === undefined ? undefined : new RotatingFile({ path, ...limits });
  const alertFile = open(alertLogFile);
  const metricsFile = open(metricsLogFile);
  return {
    name: 'jsonl',
    write({ step, metrics, alerts, interventions }) {
      const lines = [...alerts.map(alertLine), ...interventions.map(interventionLine)];
      try {
        metricsFile?.append(JSON.stringify(Object.assign({ step }, writable(metrics), { step })));
      } finally {
        for (const line of lines) alertFile?.append(JSON.stringify(line));
      }
    },
    async close() {
      alertFile?.close();
      metricsFile?.close();
    },
  };
}

function alertLine({
  step,
  timestamp,
  severity,
  pathologyType,
  message,
  metrics,
  rewardName,
  samples,
}: AlertRecord) {
  return {
    step,
    timestamp,
    severity,
    pathology_type: pathologyType,
    message,
    metrics: { ...writable(metrics), ...(rewardName !== undefined && { reward_name: rewardName }) },
    ...(samples !== undefined && samples.length > 0 && { samples }),
  };
}

function interventionLine({ step, action, cause, details }: InterventionRecord) {
  return { step, intervention: action, cause, details };
}

/** JSON has no other numbers than finite ones. */
function writable(metrics: Metrics): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(metrics).map(([name, value]) => [name, Number.isFinite(value) ? value : null]),
  );
}
