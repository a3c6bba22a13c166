import type { Finding } from '@rlp/core';
import * as z from 'zod';
import { alertCounts, countAlert, noAlerts, totalOf } from '../assessor/alert-counts.ts';
import { isAtLeast, type ResolvedInterventionConfig } from './options.ts';

const count = z.int().nonnegative();

/** Schema of the state of an {@link AlertGate}. */
export const alertGateStateSchema = z.strictObject({
  ...alertCounts,
  held: count,
  recent: z.array(z.strictObject({ step: z.number(), rules: z.array(z.string()) })),
});

type AlertGateState = z.output<typeof alertGateStateSchema>;

/**
 * Counts findings and selects those to report: severe enough, and within the rate limit.
 *
 * Beyond the limit, rules that were not reported in the window still pass. So many alerts of one rule cannot hide another.
 * With the conventions of TunRex nothing passes beyond the limit, and held batches are not counted.
 */
export class AlertGate {
  readonly #config: ResolvedInterventionConfig;
  readonly #conventions: 'rlp' | 'tunrex';
  /** `recent` has the batches with findings in the window, with the rules that were reported. */
  state: AlertGateState = { ...noAlerts(), held: 0, recent: [] };

  constructor(config: ResolvedInterventionConfig, conventions: 'rlp' | 'tunrex') {
    this.#config = config;
    this.#conventions = conventions;
  }

  /** Alerts counted so far. */
  get total(): number {
    return totalOf(this.state);
  }

  /** Counts a batch's findings. @returns Those to report, and how many the rate limit held. */
  admit(
    findings: readonly Finding[],
    step: number,
  ): { readonly reported: readonly Finding[]; readonly held: number } {
    const { enableInterventions, interventionSeverity } = this.#config;
    const none = { reported: [], held: 0 };
    if (findings.length === 0) return none;
    const severe = findings.filter(({ severity }) => isAtLeast(severity, interventionSeverity));
    const passed = this.#passed([...new Set(severe.map(({ rule }) => rule))], step);
    if (passed === undefined) return none;
    for (const finding of findings) countAlert(this.state, finding);
    if (!enableInterventions) return none;
    const reported = severe.filter(({ rule }) => passed.includes(rule));
    const held = severe.length - reported.length;
    this.state.held += held;
    return { reported, held };
  }

  /** Counts so far, and batches with findings per step of the window that ends with `step`. */
  summary(step: number) {
    if (this.#conventions === 'rlp') this.#forget(step);
    const { bySeverity, byRule, held, recent } = this.state;
    return {
      totalAlertsBySeverity: { low: 0, medium: 0, high: 0, critical: 0, ...bySeverity },
      totalAlertsByRule: { ...byRule },
      recentAlertRate: recent.length / this.#config.alertAggregationWindow,
      heldAlerts: held,
    };
  }

  /** The rules within the rate limit. `undefined` if TunRex would not count the batch. */
  #passed(rules: string[], step: number): readonly string[] | undefined {
    this.#forget(step);
    const isTunrex = this.#conventions === 'tunrex';
    const counted = this.state.recent.filter((batch) => isTunrex || batch.rules.length > 0);
    const isWithin = counted.length < this.#config.maxAlertsPerWindow;
    const known = new Set(this.state.recent.flatMap((batch) => batch.rules));
    const unreported = isTunrex ? [] : rules.filter((rule) => !known.has(rule));
    const passed = isWithin ? rules : unreported;
    this.state.recent = [...this.state.recent, { step, rules: passed }];
    return isTunrex && !isWithin ? undefined : passed;
  }

  #forget(step: number): void {
    const first = step - this.#config.alertAggregationWindow;
    this.state.recent = this.state.recent.filter((batch) => batch.step > first);
  }
}
