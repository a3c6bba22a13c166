import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import type { AssessorOptions } from '../assessor/options.ts';
import { rewardHackingDetector } from '../hacking/detector.ts';
import type { RewardHackingOptions } from '../hacking/options.ts';
import { consoleAlerts } from './console-alerts.ts';
import { RewardQualityMonitor, type RewardQualityMonitorParts } from './monitor.ts';
import type { InterventionConfig } from './options.ts';

/** Options of {@link createDefaultMonitor}. */
export interface DefaultMonitorOptions
  extends Pick<InterventionConfig, 'enableInterventions' | 'actions'>,
    Pick<AssessorOptions, 'windowSize'>,
    Pick<RewardQualityMonitorParts, 'loggers' | 'onFailure'> {
  /** Further options of the assessor, such as `{ tags: 'none' }` for plain text. */
  readonly assessor?: Omit<AssessorOptions, 'windowSize'> | undefined;
  /** Options of `rewardHackingDetector`. `'off'` omits the detector. Default: its defaults. */
  readonly rewardHacking?: RewardHackingOptions | 'off' | undefined;
  /** Print alerts. Default `'on'`. */
  readonly console?: 'on' | 'off' | undefined;
}

/** Names of the options. What receives them looks at their values. */
const names = [
  ...['enableInterventions', 'actions', 'windowSize', 'loggers', 'onFailure'],
  ...['assessor', 'rewardHacking', 'console'],
] as const satisfies readonly (keyof DefaultMonitorOptions)[];
const schema = z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));

/**
 * Creates a monitor with the usual settings: the eight pathologies after 100 samples, the reward-hacking detector, and alerts of
 * severity `medium` and above. What honest learning explains as well has severity `low`: see `explainedByLearning` of
 * {@link AssessorOptions}.
 *
 * @throws OptionsError for unknown options or values out of range.
 */
export function createDefaultMonitor(options: DefaultMonitorOptions = {}): RewardQualityMonitor {
  parseOptions('createDefaultMonitor', schema, options, 'DefaultMonitorOptions');
  const { enableInterventions, windowSize, assessor, rewardHacking, actions, onFailure } = options;
  const { console = 'on', loggers = [] } = options;
  return new RewardQualityMonitor({
    assessor: new RewardQualityAssessor({ explainedByLearning: 'lower', ...assessor, windowSize }),
    detectors: rewardHacking === 'off' ? [] : [rewardHackingDetector(rewardHacking)],
    config: { enableInterventions, interventionSeverity: 'medium', actions },
    loggers: [...(console === 'on' ? [consoleAlerts()] : []), ...loggers],
    onFailure,
  });
}
