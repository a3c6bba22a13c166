import type { Finding, Metrics } from '@rlp/core';
import type { MetricsRecord, MonitorLogs, NoteRecord } from '../files/read-logs.ts';
import { withoutNamespace } from '../monitor/logged.ts';
import { longestShown } from '../report/flagged-responses.ts';

/** Batches and findings kept. Older batches are thinned, older findings dropped. */
const mostBatches = 1000;
const mostFindings = 1000;

/** Logs of a running run, in bounded memory. */
export class RecentLogs {
  #metrics: MetricsRecord[] = [];
  #findings: Finding[] = [];
  #olderFindings = 0;
  #notes: NoteRecord[] = [];

  addMetrics(step: number, metrics: Metrics): void {
    this.#metrics.push({ step, metrics: withoutNamespace(metrics) });
    if (this.#metrics.length > mostBatches) this.#metrics = thinned(this.#metrics);
  }

  addFinding(finding: Finding): void {
    this.#findings.push(withShortSamples(finding));
    if (this.#findings.length <= mostFindings) return;
    this.#olderFindings += this.#findings.length - mostFindings / 2;
    this.#findings = this.#findings.slice(-mostFindings / 2);
  }

  addNote(step: number, note: string): void {
    this.#notes.push({ step, note });
    if (this.#notes.length > mostFindings) this.#notes = this.#notes.slice(-mostFindings / 2);
  }

  get logs(): MonitorLogs {
    return {
      metrics: this.#metrics,
      findings: this.#findings,
      notes: this.#notes,
      olderFindings: this.#olderFindings,
      unreadable: 0,
    };
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
