import { RewardQualityAssessor } from '../assessor/assessor.ts';
import { consoleSink } from './console-sink.ts';
import { RewardQualityMonitor } from './monitor.ts';
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
  /** Further sinks, such as `jsonlSink` of `@rlp/quality-monitor/files`. */
  readonly sinks?: readonly MonitorSink[] | undefined;
}

/** A monitor with the usual settings: alerts from `medium` on, after 100 samples, to the console and to the sinks given. */
export function createDefaultMonitor({
  wandbRun,
  enableInterventions = true,
  windowSize = 1000,
  sinks = [],
}: DefaultMonitorOptions = {}): RewardQualityMonitor {
  return new RewardQualityMonitor({
    assessor: new RewardQualityAssessor({ windowSize, minSamplesForAnalysis: 100 }),
    config: { enableInterventions, interventionSeverity: 'medium' },
    sinks: [consoleSink(), ...(wandbRun === undefined ? [] : [wandbSink({ run: wandbRun })]), ...sinks],
  });
}
