import { callback, type Finding, severities } from '@rlp/core';
import * as z from 'zod';
import { pathologies } from '../assessor/pathology.ts';

const delayed = z.strictObject({
  /** Steps before the same rule requests this action again, for the same component. Default 20. */
  cooldown: z.int().min(1).default(20),
});

const actionSchema = z.discriminatedUnion('action', [
  z.strictObject({
    /** Leave the trajectories of the finding out of this iteration. */
    action: z.literal('drop'),
  }),
  delayed.extend({
    /** Wait for an operator, end the run, or return to the last good checkpoint. */
    action: z.enum(['pause', 'stop', 'roll-back']),
  }),
  delayed.extend({
    /** Multiply the KL coefficient by `factor`. */
    action: z.literal('raise-kl'),
    /** Above 1. Default 2. */
    factor: z.number().gt(1).default(2),
  }),
  delayed.extend({
    /** Multiply the weight of a reward component by `factor`. */
    action: z.literal('lower-weight'),
    /** Between 0 and 1. Default 0.5. */
    factor: z.number().positive().lt(1).default(0.5),
    /** The reward component. Default: that of the finding. Without one, nothing is requested. */
    component: z.string().min(1).optional(),
  }),
]);

/** Schema of one action or several, in their order. */
export const actionsSchema = z.union([actionSchema, z.array(actionSchema).min(1)]);

/** An action to request from the training loop, such as `{ action: 'raise-kl', factor: 2 }`. */
export type InterventionAction = z.input<typeof actionSchema>;

/** {@link InterventionAction} with defaults. */
export type ResolvedAction = z.output<typeof actionSchema>;

/** Schema of {@link InterventionConfig}. */
export const interventionConfig = z.strictObject({
  /** Report alerts and request actions. `false` only counts. Default true. */
  enableInterventions: z.boolean().default(true),
  /** Lowest severity to report and act on. Default `'high'`. */
  interventionSeverity: z.enum(severities).default('high'),
  /** Length of the rate limit's window in steps. Default 100. */
  alertAggregationWindow: z.int().min(1).default(100),
  /** Batches per window whose alerts are reported. Beyond it only new rules are. All are counted. Default 10. */
  maxAlertsPerWindow: z.int().min(0).default(10),
  /** Receives each reported alert. An error in it is counted and reported once. */
  customAlertCallback: callback<(finding: Finding, step: number) => void>().optional(),
  /** Actions by rule: one, or several in their order. Default none. */
  actions: z.partialRecord(z.union([z.enum(pathologies), z.string()]), actionsSchema).default(() => ({})),
});

/** What a monitor does about its findings. */
export interface InterventionConfig extends z.input<typeof interventionConfig> {}

/** {@link InterventionConfig} with defaults. */
export type ResolvedInterventionConfig = z.output<typeof interventionConfig>;
