import type { Finding, MetricsLogger } from '@rlp/core';
import type { MetricsRecord, MonitorLogs, NoteRecord } from '../files/read-logs.ts';
import { withoutNamespace } from '../monitor/logged.ts';
import { longestShown } from '../report/flagged-responses.ts';

/** Batches, findings and notes kept. Older batches are thinned, older findings and notes dropped. */
const mostKept = 1000;

/** Logs of a running run, in bounded memory, and what fills them. @param changed - Called after each record. */
export function recentLogs(changed: () => void) {
  const [findings, notes]: [Finding[], NoteRecord[]] = [[], []];
  const logs = { metrics: [] as MetricsRecord[], findings, notes, olderFindings: 0, unreadable: 0 };
  const logger: MetricsLogger = {
    log(step, metrics) {
      logs.metrics.push({ step, metrics: withoutNamespace(metrics) });
      if (logs.metrics.length > mostKept) logs.metrics = thinned(logs.metrics);
      changed();
    },
    finding(_, finding) {
      findings.push(withShortSamples(finding));
      logs.olderFindings += dropOlder(findings);
      changed();
    },
    note(step, note) {
      notes.push({ step, note });
      dropOlder(notes);
      changed();
    },
    close: async () => undefined,
  };
  return { logs: logs as MonitorLogs, logger };
}

/** Drops the older half of too many records. @returns How many were dropped. */
function dropOlder(records: unknown[]): number {
  return records.length > mostKept ? records.splice(0, records.length - mostKept / 2).length : 0;
}

/** Shortens samples to what is shown. Copied, because a slice keeps the whole string in memory. */
function withShortSamples(finding: Finding): Finding {
  const samples = finding.samples?.map((sample) =>
    sample.length > longestShown
      ? Buffer.from(sample.slice(0, longestShown + 1), 'utf16le').toString('utf16le')
      : sample,
  );
  return samples === undefined ? finding : { ...finding, samples };
}

/** Every other batch, including the newest, with the counts of both. */
function thinned(metrics: readonly MetricsRecord[]): MetricsRecord[] {
  const first = (metrics.length + 1) % 2;
  return metrics.flatMap((row, at) => {
    if (at % 2 !== first) return [];
    const held = (row.metrics.alerts_held ?? 0) + (metrics[at - 1]?.metrics.alerts_held ?? 0);
    return [{ ...row, metrics: { ...row.metrics, alerts_held: held } }];
  });
}
