import type { Severity } from '@rlp/core';
import * as z from 'zod';
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
  readonly #bySeverity = new Map<Severity, number>();
  readonly #byType = new Map<string, number>();
  #held = 0;

  constructor(config: ResolvedInterventionConfig, conventions: 'rlp' | 'tunrex') {
    this.#config = config;
    this.#conventions = conventions;
    this.#rateLimit = new RateLimit({
      windowSteps: config.alertAggregationWindow,
      most: config.maxAlertsPerWindow,
      conventions,
    });
    this.#countNothing();
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
    for (const alert of alerts) this.#count(alert);
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
    return {
      totalAlertsBySeverity: Object.fromEntries(this.#bySeverity) as Record<Severity, number>,
      totalAlertsByType: Object.fromEntries(this.#byType),
      recentAlertRate: this.#rateLimit.rate(step),
      heldAlerts: this.#held,
    };
  }

  saveState(): AlertGateState {
    return {
      bySeverity: Object.fromEntries(this.#bySeverity),
      byType: Object.fromEntries(this.#byType),
      held: this.#held,
      rateLimit: this.#rateLimit.saveState().map(({ step, rules }) => ({ step, rules: [...rules] })),
    };
  }

  loadState({ bySeverity, byType, held, rateLimit }: AlertGateState): void {
    this.#countNothing();
    for (const [severity, alerts] of Object.entries(bySeverity)) {
      this.#bySeverity.set(severity as Severity, alerts);
    }
    for (const [type, alerts] of Object.entries(byType)) this.#byType.set(type, alerts);
    this.#rateLimit.loadState(rateLimit);
    this.#held = held;
  }

  #countNothing(): void {
    for (const severity of severities) this.#bySeverity.set(severity, 0);
    this.#byType.clear();
  }

  #count({ severity, pathologyType }: AlertRecord): void {
    this.#bySeverity.set(severity, (this.#bySeverity.get(severity) ?? 0) + 1);
    this.#byType.set(pathologyType, (this.#byType.get(pathologyType) ?? 0) + 1);
  }
}
