import { OptionsError } from '@rlp/core';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import type { AssessorOptions } from '../assessor/options.ts';
import { rewardHackingDetector } from '../hacking/detector.ts';
import type { RewardHackingOptions } from '../hacking/options.ts';
import { consoleSink } from './console-sink.ts';
import { RewardQualityMonitor } from './monitor.ts';
import type { InterventionConfig } from './options.ts';
import type { MonitorSink } from './sink.ts';
import { type WandbRun, wandbSink } from './wandb-sink.ts';

/** Options of {@link createDefaultMonitor}. */
export interface DefaultMonitorOptions {
  /** A Weights & Biases run to log to. */
  readonly wandbRun?: WandbRun | undefined;
  /** `false` only counts. Default `true`. */
  readonly enableInterventions?: boolean | undefined;
  /** Samples that statistics are taken over. Default 1000. */
  readonly windowSize?: number | undefined;
  /** Further options of the assessor; `{ tags: 'none' }` where responses are plain text. */
  readonly assessor?: Omit<AssessorOptions, 'windowSize'> | undefined;
  /** Options of `rewardHackingDetector`; `'off'` leaves it out. Default: its defaults. */
  readonly rewardHacking?: RewardHackingOptions | 'off' | undefined;
  /** What to ask of the training loop, by rule; see {@link InterventionConfig}. Default: nothing. */
  readonly actions?: InterventionConfig['actions'];
  /** Whether alerts are printed. Default `'on'`. What fails is told to `onFailure` either way. */
  readonly console?: 'on' | 'off' | undefined;
  /** Further sinks, such as `jsonlSink` of `@rlp/quality-monitor/files`. */
  readonly sinks?: readonly MonitorSink[] | undefined;
  /** Told, once for each, when a sink or callback fails or a batch is not sound. Default `console.warn`. */
  readonly onFailure?: ((message: string) => void) | undefined;
}

/**
 * A monitor with the usual settings: pathologies after 100 samples, reward hacking, alerts from `medium` on to the console and to
 * the sinks given. `monitorBatch` and `observe` show batches to all of it alike.
 *
 * @throws OptionsError for options outside their ranges, and for those that there are not.
 */
export function createDefaultMonitor({
  wandbRun,
  enableInterventions = true,
  windowSize = 1000,
  assessor,
  rewardHacking,
  actions,
  console = 'on',
  sinks = [],
  onFailure,
  ...unknown
}: DefaultMonitorOptions = {}): RewardQualityMonitor {
  const strange = Object.keys(unknown).map((key) => `Unrecognized option "${key}"`);
  if (strange.length > 0) throw new OptionsError('createDefaultMonitor', strange);
  return new RewardQualityMonitor({
    assessor: new RewardQualityAssessor({ minSamplesForAnalysis: 100, ...assessor, windowSize }),
    detectors: rewardHacking === 'off' ? [] : [rewardHackingDetector(rewardHacking)],
    config: { enableInterventions, interventionSeverity: 'medium', ...(actions && { actions }) },
    sinks: [
      ...(console === 'on' ? [consoleSink()] : []),
      ...(wandbRun === undefined ? [] : [wandbSink({ run: wandbRun })]),
      ...sinks,
    ],
    onFailure,
  });
}
