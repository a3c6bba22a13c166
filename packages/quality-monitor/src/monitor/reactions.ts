import { type Finding, type Intervention, severities } from '@rlp/core';
import * as z from 'zod';
import { alertSummary, alertsSchema, countAlert } from '../assessor/alert-counts.ts';
import { count, initial } from '../state/saved.ts';
import type { ResolvedAction, ResolvedInterventionConfig } from './options.ts';

/** Schema of the state of {@link Reactions}. */
export const reactionsSchema = z.strictObject({
  alerts: alertsSchema,
  heldAlerts: count,
  heldInterventions: count,
  /** Batches with findings in the window, with the rules that were reported. */
  recent: z.array(z.strictObject({ step: z.number(), rules: z.array(z.string()) })),
  /** Step in which each action was last requested. */
  requested: z.record(z.string(), z.number()),
});

/**
 * Counts findings, selects those to report, and requests the actions that they call for.
 *
 * Findings are reported if they are severe enough and within the rate limit. Beyond it, rules that were not reported in the window
 * still pass. So many alerts of one rule cannot hide another. With the conventions of TunRex nothing passes beyond the limit, and held
 * batches are not counted.
 *
 * An action that changes the run is requested once and then waits for its `cooldown`, because its effect takes time to show.
 * `drop` concerns one batch only and has no cooldown.
 */
export class Reactions {
  readonly #config: ResolvedInterventionConfig;
  readonly #conventions: 'rlp' | 'tunrex';
  state = initial(reactionsSchema);

  constructor(config: ResolvedInterventionConfig, conventions: 'rlp' | 'tunrex') {
    this.#config = config;
    this.#conventions = conventions;
  }

  /**
   * Counts a batch's findings and reacts to them.
   *
   * @param asked - Interventions that detectors ask for.
   * @returns Those to report, the number that the rate limit held back, and what to ask of the loop.
   */
  react(findings: readonly Finding[], step: number, asked: readonly Intervention[] = []) {
    const { enableInterventions, interventionSeverity } = this.#config;
    const reportable = severities.slice(severities.indexOf(interventionSeverity));
    const severe = findings.filter(({ severity }) => reportable.includes(severity));
    const rules = new Set(severe.map(({ rule }) => rule));
    const passed = findings.length === 0 ? rules : this.#passed(rules, step);
    if (passed !== undefined) for (const finding of findings) countAlert(this.state.alerts, finding);
    if (!enableInterventions) return { reported: [], held: 0, interventions: [] };
    const reported = severe.filter(({ rule }) => passed?.has(rule));
    const held = passed === undefined ? 0 : severe.length - reported.length;
    this.state.heldAlerts += held;
    const requested = severe.flatMap((cause) => this.#requested(cause, step));
    return { reported, held, interventions: [...requested, ...asked] };
  }

  /** Counts so far, and batches with findings per step of the window that ends with `step`. */
  summary(step: number, failures: Readonly<Record<string, number>>) {
    if (this.#conventions === 'rlp') this.#forget(step);
    const { alerts, heldAlerts, heldInterventions, recent } = this.state;
    const summary = alertSummary(alerts);
    const monitoring = {
      totalAlertsBySeverity: { low: 0, medium: 0, high: 0, critical: 0, ...summary.alertsBySeverity },
      totalAlertsByRule: summary.alertsByRule,
      recentAlertRate: recent.length / this.#config.alertAggregationWindow,
      heldAlerts,
      heldInterventions,
      failures,
    };
    return { ...summary, monitoring };
  }

  /** The rules within the rate limit. `undefined` if TunRex would not count the batch. */
  #passed(rules: ReadonlySet<string>, step: number): ReadonlySet<string> | undefined {
    this.#forget(step);
    const { recent } = this.state;
    const isTunrex = this.#conventions === 'tunrex';
    const counted = recent.filter((batch) => isTunrex || batch.rules.length > 0);
    const isWithin = counted.length < this.#config.maxAlertsPerWindow;
    const reported = new Set(recent.flatMap((batch) => batch.rules));
    const passed = isWithin ? rules : new Set([...rules].filter((rule) => !isTunrex && !reported.has(rule)));
    recent.push({ step, rules: [...passed] });
    return isTunrex && !isWithin ? undefined : passed;
  }

  #forget(step: number): void {
    const first = step - this.#config.alertAggregationWindow;
    this.state.recent = this.state.recent.filter((batch) => batch.step > first);
  }

  /** The actions that a finding calls for and that are due. */
  #requested(cause: Finding, step: number): Intervention[] {
    return [this.#config.actions[cause.rule] ?? []].flat().flatMap((action, at) => {
      const intervention = interventionOf(action, cause);
      if (intervention === undefined || action.action === 'drop') return intervention ?? [];
      const own = intervention.action === 'lower-weight' ? `/${intervention.component}` : '';
      const key = `${cause.rule}/${at}${own}`;
      if (step - (this.state.requested[key] ?? -Infinity) < action.cooldown) {
        this.state.heldInterventions += 1;
        return [];
      }
      this.state.requested[key] = step;
      return intervention;
    });
  }
}

/** Returns nothing if the finding names no trajectories or component to act on. */
function interventionOf(action: ResolvedAction, cause: Finding): Intervention | undefined {
  const { trajectories = [] } = cause;
  if (action.action === 'drop')
    return trajectories.length === 0 ? undefined : { action: 'drop', cause, trajectories };
  const { cooldown: _, ...wanted } = action;
  if (wanted.action !== 'lower-weight') return { ...wanted, cause };
  const { component = cause.component } = wanted;
  return component === undefined ? undefined : { ...wanted, cause, component };
}

/** Describes an intervention in a sentence. */
export function interventionNote({ cause, ...intervention }: Intervention): string {
  const details = Object.entries(intervention)
    .filter(([name]) => name !== 'action' && name !== 'trajectories')
    .map(([name, value]) => `${name} ${value}`);
  const what = [intervention.action, ...(details.length > 0 ? [`(${details.join(', ')})`] : [])].join(' ');
  return `Requested ${what} because of ${cause.rule}: ${cause.message}`;
}
