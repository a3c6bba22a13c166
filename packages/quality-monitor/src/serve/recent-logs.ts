import type { MonitorLogs } from '../files/read-logs.ts';
import type { MonitorRecord } from '../monitor/sink.ts';

/** How much of a run the page shows; older batches are thinned, older alerts go. */
const mostBatches = 4000;
const mostAlerts = 1000;

/** The logs of a run under way, in bounded memory. */
export class RecentLogs {
  #metrics: MonitorLogs['metrics'][number][] = [];
  #alerts: MonitorLogs['alerts'][number][] = [];
  #interventions: MonitorLogs['interventions'][number][] = [];

  add({ step, metrics, alerts, interventions }: MonitorRecord): void {
    this.#metrics.push({ step, metrics });
    this.#alerts.push(...alerts);
    this.#interventions.push(...interventions);
    if (this.#metrics.length > mostBatches) this.#metrics = this.#metrics.filter((_, at) => at % 2 === 0);
    if (this.#alerts.length > mostAlerts) this.#alerts = this.#alerts.slice(-mostAlerts / 2);
    if (this.#interventions.length > mostAlerts)
      this.#interventions = this.#interventions.slice(-mostAlerts / 2);
  }

  get logs(): MonitorLogs {
    return {
      metrics: this.#metrics,
      alerts: this.#alerts,
      interventions: this.#interventions,
      unreadable: 0,
    };
  }
}
