import type { Metrics, Severity } from '@rlp/core';
import { type PathologyAlert, type PathologyType, pathologyNotes } from './alert.ts';
import type { QualitySums } from './metrics.ts';
import { fixed, percent, pythonNumber } from './number-format.ts';
import type { AlertThresholds, ResolvedAssessorOptions } from './options.ts';
import type { RewardStatistics, RewardWindow } from './reward-window.ts';

/** An alert before it is known when it was raised. */
export type Diagnosis = Omit<PathologyAlert, 'timestamp'>;

/** Saturation of rewards' windows, then their collapse. */
export function rewardPathologies(
  windows: readonly (readonly [name: string, window: RewardWindow])[],
  options: ResolvedAssessorOptions,
): Diagnosis[] {
  const known = windows.flatMap(([name, window]) => {
    const statistics = window.statistics();
    return statistics === undefined ? [] : [{ name, window, statistics }];
  });
  const { rewardSaturationHigh, rewardSaturationLow } = options.alertThresholds;
  const saturated = known.flatMap(({ name, window, statistics: { max, min } }) => {
    if (max === min) return [];
    const [high, low] = [window.shareAtMaximum(), window.shareAtMinimum()];
    return [
      ...(high > rewardSaturationHigh ? [saturation(name, 'maximum', high, max)] : []),
      ...(low > rewardSaturationLow ? [saturation(name, 'minimum', low, min)] : []),
    ];
  });
  const collapsed = known.flatMap(({ name, statistics }) => varianceCollapse(name, statistics, options));
  return [...saturated, ...collapsed];
}

function saturation(
  rewardName: string,
  bound: 'maximum' | 'minimum',
  rate: number,
  value: number,
): Diagnosis {
  const short = bound === 'maximum' ? 'max' : 'min';
  return diagnosis({
    pathologyType: bound === 'maximum' ? 'reward_saturation_high' : 'reward_saturation_low',
    severity: rate > 0.95 ? 'high' : 'medium',
    rewardName,
    message:
      `Reward '${rewardName}' saturating at ${bound}: ${percent(rate)} of samples at ${short} value ` +
      pythonNumber(value),
    metrics: { saturation_rate: rate, [`${short}_value`]: value },
  });
}

/** A reward of which all samples are 0 has collapsed as well; the original never says so, as it divides by the mean. */
function varianceCollapse(
  rewardName: string,
  { mean, std }: RewardStatistics,
  { alertThresholds, conventions }: ResolvedAssessorOptions,
): Diagnosis[] {
  if (mean === 0 && (conventions === 'tunrex' || std > 0)) return [];
  const variation = mean === 0 ? 0 : std / Math.abs(mean);
  // Of rewards whose sum overflows it is not a number.
  if (!(variation < alertThresholds.varianceCollapse)) return [];
  return [
    diagnosis({
      pathologyType: 'variance_collapse',
      severity: 'critical',
      rewardName,
      message:
        `Reward '${rewardName}' variance collapsed: CV=${fixed(variation, 4)}, std=${fixed(std, 4)}, ` +
        `mean=${fixed(mean, 4)}`,
      metrics: { cv: variation, std, mean },
    }),
  ];
}

/** Gaming, repetition and lack of diversity; of `recent` responses some are different, where there are enough to tell. */
export function contentPathologies(
  sums: QualitySums,
  recent: { readonly different: number; readonly count: number } | undefined,
  { alertThresholds }: ResolvedAssessorOptions,
): Diagnosis[] {
  const found: Diagnosis[] = [];
  const gaming = sums.shareOfFormatted(sums.gaming.length);
  if (gaming > alertThresholds.formatGaming) {
    found.push(
      diagnosis({
        pathologyType: 'format_gaming',
        severity: 'critical',
        message: `Suspected format gaming: ${percent(gaming)} of formatted responses have low-quality content`,
        metrics: { gaming_rate: gaming, gaming_count: sums.gaming.length, total_formatted: sums.formatted },
        responses: sums.gaming,
      }),
    );
  }
  const repetition = sums.share(sums.repetition);
  if (repetition > alertThresholds.repetition) {
    const high = sums.highlyRepetitive.length;
    found.push(
      diagnosis({
        pathologyType: 'excessive_repetition',
        severity: 'high',
        message:
          `Excessive repetition detected: avg=${percent(repetition)}, ${high}/${sums.count} responses ` +
          'highly repetitive',
        metrics: { avg_repetition: repetition, high_repetition_count: high },
        responses: sums.highlyRepetitive,
      }),
    );
  }
  return recent === undefined ? found : [...found, ...diversityCollapse(recent, alertThresholds)];
}

function diversityCollapse(
  { different, count }: { readonly different: number; readonly count: number },
  thresholds: AlertThresholds,
): Diagnosis[] {
  const diversity = different / count;
  if (diversity >= thresholds.diversityCollapse) return [];
  return [
    diagnosis({
      pathologyType: 'diversity_collapse',
      severity: 'critical',
      message: `Response diversity collapsed: only ${percent(diversity)} unique responses in recent ${count} samples`,
      metrics: { unique_ratio: diversity, total_responses: count, unique_responses: different },
    }),
  ];
}

/** Empty or malformed responses. */
export function degenerateOutputs(
  sums: QualitySums,
  { alertThresholds, tags, conventions }: ResolvedAssessorOptions,
): Diagnosis[] {
  const empty = sums.share(sums.empty.length);
  if (empty <= alertThresholds.emptyContent) return [];
  const unexpected = conventions === 'rlp' && tags !== 'none' && sums.formatted === 0;
  const advice = unexpected
    ? `; none has <${tags.reasoning}> and <${tags.answer}>: where none is meant to, set tags: 'none'`
    : '';
  return [
    diagnosis({
      pathologyType: 'degenerate_outputs',
      severity: 'high',
      message: `High rate of degenerate outputs: ${percent(empty)} responses are empty or malformed${advice}`,
      metrics: { empty_rate: empty, empty_count: sums.empty.length, total: sums.count },
      responses: sums.empty,
    }),
  ];
}

/** Where a reward stood before a batch: the yardstick of its spikes. */
export interface SpikeHistory {
  readonly center: number;
  readonly deviation: number;
  /** Values in here have been seen and are no spike. */
  readonly known: { readonly low: number; readonly high: number } | undefined;
}

/**
 * The history that spikes are measured against.
 *
 * Ours is that before the batch: its median, and 1.4826 times the median distance from it (the plain deviation where most
 * values are equal); a value within one deviation of what was seen before is no spike. The original's is mean and deviation of
 * the window with the batch in it, which hides the very spikes.
 */
export function spikeHistory(
  window: RewardWindow,
  { conventions }: ResolvedAssessorOptions,
): SpikeHistory | undefined {
  const statistics = window.statistics();
  if (statistics === undefined || statistics.std === 0) return undefined;
  const { mean, std, median, min, max } = statistics;
  if (conventions === 'tunrex') return { center: mean, deviation: std, known: undefined };
  const robust = window.robustDeviation();
  const deviation = robust > 0 ? robust : std;
  return { center: median, deviation, known: { low: min - deviation, high: max + deviation } };
}

/** The values of a batch that lie far outside of its history. */
export function rewardSpikes(
  rewardName: string,
  values: readonly (number | null)[],
  { center, deviation, known }: SpikeHistory,
  { alertThresholds }: ResolvedAssessorOptions,
): Diagnosis[] {
  return values.flatMap((value, index) => {
    if (value === null || !Number.isFinite(value)) return [];
    const score = Math.abs(value - center) / deviation;
    if (score <= alertThresholds.rewardSpikeStd) return [];
    if (known !== undefined && value >= known.low && value <= known.high) return [];
    return diagnosis({
      pathologyType: 'reward_spike',
      severity: 'medium',
      rewardName,
      message: `Unusual reward spike in '${rewardName}': value=${fixed(value, 3)}, z-score=${fixed(score, 2)}`,
      metrics: { value, z_score: score, mean: center, std: deviation },
      responses: [index],
    });
  });
}

function diagnosis(found: {
  readonly pathologyType: PathologyType;
  readonly severity: Severity;
  readonly message: string;
  readonly metrics: Metrics;
  readonly rewardName?: string;
  readonly responses?: readonly number[];
}): Diagnosis {
  return { ...found, note: pathologyNotes[found.pathologyType] };
}
