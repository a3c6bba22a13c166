import * as z from 'zod';
import { AlertCounts } from '../assessor/alert-counts.ts';
import { isAtLeast, type ResolvedInterventionConfig, severities } from './options.ts';
import { RateLimit } from './rate-limit.ts';
import type { AlertRecord } from './sink.ts';

const count = z.int().nonnegative();

/** Schema of what an {@link AlertGate} remembers. */
export const alertGateStateSchema = z.strictObject({
  bySeverity: z.partialRecord(z.enum(severities), count),
  byType: z.record(z.string(), count),
  held: count,
  rateLimit: z.array(z.strictObject({ step: z.number(), rules: z.array(z.string()) })),
});

/** What an {@link AlertGate} remembers, as JSON data. */
export type AlertGateState = z.output<typeof alertGateStateSchema>;

/** Counts alerts, and decides which are reported: those that are severe enough, within the rate limit. */
export class AlertGate {
  readonly #config: ResolvedInterventionConfig;
  readonly #conventions: 'rlp' | 'tunrex';
  readonly #rateLimit: RateLimit;
  readonly #counts = new AlertCounts();
  #held = 0;

  constructor(config: ResolvedInterventionConfig, conventions: 'rlp' | 'tunrex') {
    this.#config = config;
    this.#conventions = conventions;
    this.#rateLimit = new RateLimit({
      windowSteps: config.alertAggregationWindow,
      most: config.maxAlertsPerWindow,
      conventions,
    });
  }

  /** Counts a batch's alerts; gives those that are reported, and how many the rate limit held. */
  admit(
    alerts: readonly AlertRecord[],
    step: number,
  ): { readonly reported: readonly AlertRecord[]; readonly held: number } {
    const { enableInterventions, interventionSeverity } = this.#config;
    const nothing = { reported: [], held: 0 };
    if (alerts.length === 0) return nothing;
    const severe = alerts.filter(({ severity }) => isAtLeast(severity, interventionSeverity));
    const rules = [...new Set(severe.map(({ pathologyType }) => pathologyType))];
    const admitted = this.#rateLimit.admit(step, rules);
    // The original forgets to count what it holds.
    if (admitted === 'held' && this.#conventions === 'tunrex') return nothing;
    for (const alert of alerts) this.#counts.add(alert);
    if (!enableInterventions) return nothing;
    const reported = severe.filter(
      ({ pathologyType }) => admitted !== 'held' && admitted.includes(pathologyType),
    );
    const held = severe.length - reported.length;
    this.#held += held;
    return { reported, held };
  }

  /** Counts so far, and alerting batches per step of the window that ends with `step`. */
  summary(step: number) {
    const { bySeverity, byType } = this.#counts.saveState();
    return {
      totalAlertsBySeverity: { low: 0, medium: 0, high: 0, critical: 0, ...bySeverity },
      totalAlertsByType: byType,
      recentAlertRate: this.#rateLimit.rate(step),
      heldAlerts: this.#held,
    };
  }

  saveState(): AlertGateState {
    return {
      ...this.#counts.saveState(),
      held: this.#held,
      rateLimit: this.#rateLimit.saveState().map(({ step, rules }) => ({ step, rules: [...rules] })),
    };
  }

  loadState({ held, rateLimit, ...counts }: AlertGateState): void {
    this.#counts.loadState(counts);
    this.#rateLimit.loadState(rateLimit);
    this.#held = held;
  }
}
