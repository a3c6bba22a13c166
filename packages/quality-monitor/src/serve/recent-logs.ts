import type { MetricsRecord, MonitorLogs } from '../files/read-logs.ts';
import type { AlertRecord, MonitorRecord } from '../monitor/sink.ts';
import { longestShown } from '../report/flagged-responses.ts';

/** How much of a run the page shows; older batches are thinned, older alerts go. */
const mostBatches = 1000;
const mostAlerts = 1000;

/** The logs of a run under way, in bounded memory. */
export class RecentLogs {
  #metrics: MetricsRecord[] = [];
  #alerts: AlertRecord[] = [];
  #olderAlerts = 0;
  #interventions: MonitorLogs['interventions'][number][] = [];

  add({ step, metrics, alerts, interventions }: MonitorRecord): void {
    this.#metrics.push({ step, metrics });
    for (const alert of alerts) this.#alerts.push(withShortSamples(alert));
    for (const intervention of interventions) this.#interventions.push(intervention);
    if (this.#metrics.length > mostBatches) this.#metrics = thinned(this.#metrics);
    if (this.#alerts.length > mostAlerts) {
      this.#olderAlerts += this.#alerts.length - mostAlerts / 2;
      this.#alerts = this.#alerts.slice(-mostAlerts / 2);
    }
    if (this.#interventions.length > mostAlerts)
      this.#interventions = this.#interventions.slice(-mostAlerts / 2);
  }

  get logs(): MonitorLogs {
    return {
      metrics: this.#metrics,
      alerts: this.#alerts,
      interventions: this.#interventions,
      olderAlerts: this.#olderAlerts,
      unreadable: 0,
    };
  }
}

/** With as much of its responses as is shown: copied, as a part of a string keeps all of it. */
function withShortSamples(alert: AlertRecord): AlertRecord {
  const samples = alert.samples?.map((sample) =>
    sample.length > longestShown
      ? Buffer.from(sample.slice(0, longestShown + 1), 'utf16le').toString('utf16le')
      : sample,
  );
  return samples === undefined ? alert : { ...alert, samples };
}

/** Every other batch, the newest among them; counts are those of both. */
function thinned(metrics: readonly MetricsRecord[]): MetricsRecord[] {
  const first = (metrics.length + 1) % 2;
  return metrics.flatMap((row, at) => {
    if (at % 2 !== first) return [];
    const held = (row.metrics.alerts_held ?? 0) + (metrics[at - 1]?.metrics.alerts_held ?? 0);
    return [{ ...row, metrics: { ...row.metrics, alerts_held: held } }];
  });
}
