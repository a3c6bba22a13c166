import { type MetricsLogger, OptionsError } from '@rlp/core';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import type { AssessorOptions } from '../assessor/options.ts';
import { rewardHackingDetector } from '../hacking/detector.ts';
import type { RewardHackingOptions } from '../hacking/options.ts';
import { consoleAlerts } from './console-alerts.ts';
import { RewardQualityMonitor } from './monitor.ts';
import type { InterventionConfig } from './options.ts';

/** Options of {@link createDefaultMonitor}. */
export interface DefaultMonitorOptions {
  /** Report alerts and request actions. `false` only counts. Default true. */
  readonly enableInterventions?: boolean | undefined;
  /** Values of each reward that statistics are computed over. Default 1000. */
  readonly windowSize?: number | undefined;
  /** Further options of the assessor, such as `{ tags: 'none' }` for plain text. */
  readonly assessor?: Omit<AssessorOptions, 'windowSize'> | undefined;
  /** Options of `rewardHackingDetector`. `'off'` omits the detector. Default: its defaults. */
  readonly rewardHacking?: RewardHackingOptions | 'off' | undefined;
  /** Actions to request from the training loop, by rule. See {@link InterventionConfig}. Default none. */
  readonly actions?: InterventionConfig['actions'];
  /** Print alerts. Default `'on'`. */
  readonly console?: 'on' | 'off' | undefined;
  /** Loggers for metrics, findings and notes, such as `wandbLogger({ run })` of `@rlp/tracking`. Default none. */
  readonly loggers?: readonly MetricsLogger[] | undefined;
  /** Called once for each logger, callback or reward that fails. Default `console.warn`. */
  readonly onFailure?: ((message: string) => void) | undefined;
}

const usual = { minSamplesForAnalysis: 100, explainedByLearning: 'lower' } as const;

/**
 * Creates a monitor with the usual settings: the eight pathologies after 100 samples, the reward-hacking detector, and alerts of
 * severity `medium` and above. What honest learning explains as well has severity `low`: see `explainedByLearning` of
 * {@link AssessorOptions}.
 *
 * @throws OptionsError for unknown options or values out of range.
 */
export function createDefaultMonitor({
  enableInterventions = true,
  windowSize = 1000,
  assessor,
  rewardHacking,
  actions,
  console = 'on',
  loggers = [],
  onFailure,
  ...unknown
}: DefaultMonitorOptions = {}): RewardQualityMonitor {
  const problems = Object.keys(unknown).map((key) => `Unrecognized option "${key}"`);
  if (problems.length > 0) throw new OptionsError('createDefaultMonitor', problems);
  return new RewardQualityMonitor({
    assessor: new RewardQualityAssessor({ ...usual, ...assessor, windowSize }),
    detectors: rewardHacking === 'off' ? [] : [rewardHackingDetector(rewardHacking)],
    config: { enableInterventions, interventionSeverity: 'medium', ...(actions && { actions }) },
    loggers: [...(console === 'on' ? [consoleAlerts()] : []), ...loggers],
    onFailure,
  });
}
