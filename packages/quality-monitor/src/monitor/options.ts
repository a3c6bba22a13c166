import { parseOptions, type Severity } from '@rlp/core';
import * as z from 'zod';
import { pathologyTypes } from '../assessor/alert.ts';
import type { AlertRecord } from './sink.ts';

/** From the least to the most severe. */
export const severities = ['low', 'medium', 'high', 'critical'] as const satisfies readonly Severity[];

const isFunction = (value: unknown) => typeof value === 'function';

const factor = z.number().positive();
const cooldown = z.int().min(1).default(20);

/** What is asked of the loop when a rule finds something; `Intervention` of `@rlp/core` without what only a batch knows. */
const actionSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('drop') }),
  z.strictObject({ action: z.enum(['pause', 'stop', 'roll-back']), cooldown }),
  z.strictObject({ action: z.literal('raise-kl'), cooldown, factor: factor.gt(1).default(2) }),
  z.strictObject({
    action: z.literal('lower-weight'),
    cooldown,
    factor: factor.lt(1).default(0.5),
    component: z.string().min(1).optional(),
  }),
]);

/** One action, or several in their order. */
const actionsSchema = z.union([actionSchema, z.array(actionSchema).min(1)]);

/**
 * An action that can be asked for: `{ action: 'drop' }`, `{ action: 'raise-kl', factor: 2 }`… `lower-weight` is of the
 * `component` it names; without one, of that which the finding is about, and nothing is asked for where it is about none.
 *
 * `cooldown` (20 steps): for so long the same action for the same rule (and component) is not asked for again. `drop` has none: it
 * concerns one batch alone.
 */
export type InterventionAction = z.input<typeof actionSchema>;

/** {@link InterventionAction} with every default filled in. */
export type ResolvedAction = z.output<typeof actionSchema>;

const schema = z.strictObject({
  enableInterventions: z.boolean().default(true),
  interventionSeverity: z.enum(severities).default('high'),
  alertAggregationWindow: z.int().min(1).default(100),
  maxAlertsPerWindow: z.int().min(0).default(10),
  customAlertCallback: z
    .custom<(alert: AlertRecord, step: number) => void>(isFunction, 'must be a function')
    .optional(),
  actions: z.partialRecord(z.union([z.enum(pathologyTypes), z.string()]), actionsSchema).default(() => ({})),
});

/**
 * What a monitor does about its findings.
 *
 * - `enableInterventions` (true): report alerts to sinks and callback, and ask for `actions`. Counts go on without.
 * - `interventionSeverity` (`'high'`): from which severity on.
 * - `alertAggregationWindow` (100 steps), `maxAlertsPerWindow` (10): at most so many batches in any window of steps have
 *   alerts reported; beyond them, only rules that were not reported in it. All are counted, and all are acted on.
 * - `customAlertCallback`: gets each alert that is reported, those of detectors too. What it throws is counted, and goes no further.
 * - `actions` (none): what to ask of the training loop, by rule: one action or several in their order, such as
 *   `{ format_gaming: { action: 'drop' }, suspected_reward_hacking: [{ action: 'roll-back' }, { action: 'raise-kl' }] }`.
 *   See `Intervention` of `@rlp/core`.
 */
export type InterventionConfig = z.input<typeof schema>;

/** {@link InterventionConfig} with every default filled in. */
export type ResolvedInterventionConfig = z.output<typeof schema>;

/** Applies the defaults. @throws OptionsError naming every problem at once. */
export function resolveInterventionConfig(config: InterventionConfig = {}): ResolvedInterventionConfig {
  return parseOptions('InterventionConfig', schema, config);
}

/** Whether a severity reaches another. */
export function isAtLeast(severity: Severity, threshold: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(threshold);
}
