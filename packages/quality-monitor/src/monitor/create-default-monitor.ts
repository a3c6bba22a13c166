import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import { assessorOptions } from '../assessor/options.ts';
import { pathologies } from '../assessor/pathology.ts';
import { rewardHackingDetector } from '../hacking/detector.ts';
import { changedRule, hackingRule } from '../hacking/findings.ts';
import { rewardHackingOptions } from '../hacking/options.ts';
import { consoleAlerts } from './console-alerts.ts';
import { partsSchema, RewardQualityMonitor } from './monitor.ts';
import { actionsSchema, interventionConfig } from './options.ts';

const rules = [...pathologies, hackingRule, changedRule] as const;

const schema = z.strictObject({
  ...interventionConfig.shape,
  /** Lowest severity to report and act on. Default `'medium'`. */
  interventionSeverity: interventionConfig.shape.interventionSeverity.unwrap().default('medium'),
  /** Actions by rule: one, or several in their order. Default none. */
  actions: z.partialRecord(z.enum(rules), actionsSchema).default(() => ({})),
  ...assessorOptions.pick({ windowSize: true }).shape,
  ...partsSchema.pick({ loggers: true, onFailure: true }).shape,
  /** Further options of the assessor, such as `{ tags: 'none' }` for plain text. */
  assessor: assessorOptions
    .omit({ windowSize: true })
    .extend({
      /** As in `AssessorOptions`. Default `'lower'`. */
      explainedByLearning: assessorOptions.shape.explainedByLearning.unwrap().default('lower'),
    })
    .prefault({}),
  /** Options of `rewardHackingDetector`. `'off'` omits the detector. Default: its defaults. */
  rewardHacking: z.union([z.literal('off'), rewardHackingOptions]).prefault({}),
  /** Print alerts. Default `'on'`. */
  console: z.enum(['on', 'off']).default('on'),
});

/** Options of {@link createDefaultMonitor}. */
export interface DefaultMonitorOptions extends z.input<typeof schema> {}

/**
 * Creates a monitor with the usual settings: the eight pathologies after 100 samples, the reward-hacking detector, and alerts of
 * severity `medium` and above. What honest learning explains as well has severity `low`: see `explainedByLearning` of
 * `AssessorOptions`.
 *
 * @throws OptionsError for unknown options or values out of range.
 */
export function createDefaultMonitor(options: DefaultMonitorOptions = {}): RewardQualityMonitor {
  const resolved = parseOptions('createDefaultMonitor', schema, options, 'DefaultMonitorOptions');
  const { windowSize, assessor, rewardHacking, console, loggers, onFailure, ...config } = resolved;
  return new RewardQualityMonitor({
    assessor: new RewardQualityAssessor({ ...assessor, windowSize }),
    detectors: rewardHacking === 'off' ? [] : [rewardHackingDetector(rewardHacking)],
    config,
    loggers: [...(console === 'on' ? [consoleAlerts()] : []), ...loggers],
    onFailure,
  });
}
