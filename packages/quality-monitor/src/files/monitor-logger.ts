import { callback, type Finding, type MetricsLogger, parseOptions } from '@rlp/core';
import { toJsonLine } from '@rlp/data';
import { AppendFile } from '@rlp/data/files';
import * as z from 'zod';
import { isPathology } from '../assessor/pathology.ts';
import { withoutNamespace } from '../monitor/logged.ts';

const standardBytes = 2 ** 26;

const schema = z.strictObject({
  /** File for findings and notes. Default none. */
  alertLogFile: z.string().min(1).optional(),
  /** File for metrics. Default none. */
  metricsLogFile: z.string().min(1).optional(),
  /** Bytes at which a file moves to `file.1`, and that to `file.2`. Default 64 MiB. */
  maxBytes: z.int().min(1024).default(standardBytes),
  /** Older files to keep. Default 3. */
  keep: z.int().min(0).default(3),
  /** Gives the `time` of each line, such as `() => new Date()`. Default: lines have no time. */
  clock: callback<() => Date>('a function that returns a Date').optional(),
});

/** Options of {@link monitorLogger}. */
export interface MonitorLoggerOptions extends z.input<typeof schema> {}

/**
 * Writes a monitor's log files as JSON Lines.
 *
 * - Metrics: `{"step", …}`, flat.
 * - Findings: `{"step", "timestamp", "severity", "pathology_type", "message", "metrics"}`. `timestamp` counts responses. Where known
 *   also `trajectories` (ids), `samples`, `examples`, `phrases` and `note`.
 * - Notes: `{"step", "note"}`.
 *
 * With a `clock` each line also has its `time` in ISO 8601.
 *
 * A line is handed to the operating system before the next batch. A line that a crash or a full disk cut short is removed.
 *
 * Give each monitor files of its own. Of two that write to one file, the report shows a mixture: a step that comes again replaces the
 * earlier lines from that step on.
 *
 * @throws OptionsError for bad options.
 */
export function monitorLogger(options: MonitorLoggerOptions): MetricsLogger {
  const parsed = parseOptions('monitorLogger', schema, options);
  const { alertLogFile, metricsLogFile, maxBytes, keep, clock } = parsed;
  const open = (path: string | undefined) =>
    path === undefined ? undefined : new AppendFile({ path, maxBytes, keep });
  const alertFile = open(alertLogFile);
  const metricsFile = open(metricsLogFile);
  const at = (step: number) => (clock ? { step, time: clock().toISOString() } : { step });
  return {
    log(step, metrics) {
      metricsFile?.append(toJsonLine(Object.assign({ step }, withoutNamespace(metrics), at(step))));
    },
    finding: (step, finding) => alertFile?.append(toJsonLine({ ...at(step), ...findingFields(finding) })),
    note: (step, note) => alertFile?.append(toJsonLine({ ...at(step), note })),
    async close() {
      alertFile?.close();
      metricsFile?.close();
    },
  };
}

function findingFields(finding: Finding) {
  const { severity, rule, message, evidence, component, responsesSeen = 0 } = finding;
  const { trajectories, samples, examples, phrases, note } = finding;
  const filled = Object.entries({ trajectories, samples, examples, phrases }).filter(([, of]) => of?.length);
  return {
    ...{ timestamp: responsesSeen, severity, pathology_type: rule, message },
    metrics: { ...evidence, ...(component !== undefined && { reward_name: component }) },
    ...Object.fromEntries(filled),
    ...(note !== undefined && !isPathology(rule) && { note }),
  };
}
