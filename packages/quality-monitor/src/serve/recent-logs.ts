import type { Finding, Metrics } from '@rlp/core';
import type { MetricsRecord, MonitorLogs, NoteRecord } from '../files/read-logs.ts';
import { withoutNamespace } from '../monitor/logged.ts';
import { longestShown } from '../report/flagged-responses.ts';

/** Batches and findings kept. Older batches are thinned, older findings dropped. */
const mostBatches = 1000;
const mostFindings = 1000;

/** Logs of a running run, in bounded memory. */
export class RecentLogs {
  readonly #logs = {
    metrics: [] as MetricsRecord[],
    findings: [] as Finding[],
    notes: [] as NoteRecord[],
    olderFindings: 0,
    unreadable: 0,
  };

  get logs(): MonitorLogs {
    return this.#logs;
  }

  addMetrics(step: number, metrics: Metrics): void {
    const logs = this.#logs;
    logs.metrics.push({ step, metrics: withoutNamespace(metrics) });
    if (logs.metrics.length > mostBatches) logs.metrics = thinned(logs.metrics);
  }

  addFinding(finding: Finding): void {
    const { findings } = this.#logs;
    findings.push(withShortSamples(finding));
    if (findings.length > mostFindings)
      this.#logs.olderFindings += findings.splice(0, findings.length - mostFindings / 2).length;
  }

  addNote(step: number, note: string): void {
    const { notes } = this.#logs;
    notes.push({ step, note });
    if (notes.length > mostFindings) notes.splice(0, notes.length - mostFindings / 2);
  }
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
