import type { Finding } from '@rlp/core';
import type { QualitySums } from './metrics.ts';
import { fixed, percent, pythonNumber } from './number-format.ts';
import type { AlertThresholds, ResolvedAssessorOptions } from './options.ts';
import { type Pathology, pathologyNotes } from './pathology.ts';
import type { RewardStatistics, RewardWindow } from './reward-window.ts';

/** A finding about a batch. Responses are given by their indices. */
export interface BatchFinding extends Pick<Finding, 'severity' | 'message' | 'evidence' | 'note'> {
  readonly rule: Pathology;
  readonly component?: string;
  readonly responses?: readonly number[];
}

function batchFinding(found: Omit<BatchFinding, 'note'>): BatchFinding {
  return { ...found, note: pathologyNotes[found.rule] };
}

/** Saturation of the rewards' windows, then variance collapse. */
export function rewardPathologies(
  windows: readonly (readonly [name: string, window: RewardWindow])[],
  options: ResolvedAssessorOptions,
): BatchFinding[] {
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
  component: string,
  bound: 'maximum' | 'minimum',
  rate: number,
  value: number,
): BatchFinding {
  const short = bound === 'maximum' ? 'max' : 'min';
  const share = percent(rate);
  return batchFinding({
    rule: bound === 'maximum' ? 'reward_saturation_high' : 'reward_saturation_low',
    severity: rate > 0.95 ? 'high' : 'medium',
    component,
    message: `Reward '${component}' saturating at ${bound}: ${share} of samples at ${short} value ${pythonNumber(value)}`,
    evidence: { saturation_rate: rate, [`${short}_value`]: value },
  });
}

/** A reward that is always 0 has collapsed too. With the conventions of TunRex it has not. */
function varianceCollapse(
  component: string,
  { mean, std }: RewardStatistics,
  { alertThresholds, conventions }: ResolvedAssessorOptions,
): BatchFinding[] {
  if (mean === 0 && (conventions === 'tunrex' || std > 0)) return [];
  const variation = mean === 0 ? 0 : std / Math.abs(mean);
  // NaN if the sum of the rewards overflows.
  if (!(variation < alertThresholds.varianceCollapse)) return [];
  const numbers = `CV=${fixed(variation, 4)}, std=${fixed(std, 4)}, mean=${fixed(mean, 4)}`;
  return [
    batchFinding({
      rule: 'variance_collapse',
      severity: 'critical',
      component,
      message: `Reward '${component}' variance collapsed: ${numbers}`,
      evidence: { cv: variation, std, mean },
    }),
  ];
}

/** Format gaming, repetition and loss of diversity. Omit `recent` if there are too few responses to judge diversity. */
export function contentPathologies(
  sums: QualitySums,
  recent: { readonly different: number; readonly count: number } | undefined,
  { alertThresholds }: ResolvedAssessorOptions,
): BatchFinding[] {
  const found: BatchFinding[] = [];
  const gaming = sums.shareOfFormatted(sums.gaming.length);
  if (gaming > alertThresholds.formatGaming) {
    found.push(
      batchFinding({
        rule: 'format_gaming',
        severity: 'critical',
        message: `Suspected format gaming: ${percent(gaming)} of formatted responses have low-quality content`,
        evidence: { gaming_rate: gaming, gaming_count: sums.gaming.length, total_formatted: sums.formatted },
        responses: sums.gaming,
      }),
    );
  }
  const repetition = sums.share(sums.repetition);
  if (repetition > alertThresholds.repetition) {
    const high = sums.highlyRepetitive.length;
    found.push(
      batchFinding({
        rule: 'excessive_repetition',
        severity: 'high',
        message: `Excessive repetition detected: avg=${percent(repetition)}, ${high}/${sums.count} responses highly repetitive`,
        evidence: { avg_repetition: repetition, high_repetition_count: high },
        responses: sums.highlyRepetitive,
      }),
    );
  }
  return recent === undefined ? found : [...found, ...diversityCollapse(recent, alertThresholds)];
}

function diversityCollapse(
  { different, count }: { readonly different: number; readonly count: number },
  thresholds: AlertThresholds,
): BatchFinding[] {
  const diversity = different / count;
  if (diversity >= thresholds.diversityCollapse) return [];
  return [
    batchFinding({
      rule: 'diversity_collapse',
      severity: 'critical',
      message: `Response diversity collapsed: only ${percent(diversity)} unique responses in recent ${count} samples`,
      evidence: { unique_ratio: diversity, total_responses: count, unique_responses: different },
    }),
  ];
}

/** Empty or malformed responses. */
export function degenerateOutputs(
  sums: QualitySums,
  { alertThresholds, tags, conventions }: ResolvedAssessorOptions,
): BatchFinding[] {
  const empty = sums.share(sums.empty.length);
  if (empty <= alertThresholds.emptyContent) return [];
  const hasNoTags = conventions === 'rlp' && tags !== 'none' && sums.formatted === 0;
  const advice = hasNoTags
    ? `. None has <${tags.reasoning}> and <${tags.answer}>. For plain text set the option tags (flag --tags) to "none"`
    : '';
  return [
    batchFinding({
      rule: 'degenerate_outputs',
      severity: 'high',
      message: `High rate of degenerate outputs: ${percent(empty)} responses are empty or malformed${advice}`,
      evidence: { empty_rate: empty, empty_count: sums.empty.length, total: sums.count },
      responses: sums.empty,
    }),
  ];
}

/** Yardstick for reward spikes. */
export interface SpikeHistory {
  readonly center: number;
  readonly deviation: number;
  /** Range of values that are not spikes, because similar ones occurred before. */
  readonly known: { readonly low: number; readonly high: number } | undefined;
}

/**
 * Returns the history that spikes are measured against.
 *
 * Center: the median before the batch. Deviation: 1.4826 times the median distance from it, or the standard deviation if
 * that is 0. A value within one deviation of the range seen before is not a spike. With the conventions of TunRex, mean and
 * standard deviation of the window including the batch are used.
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

/** Values of a batch that lie far outside their history. */
export function rewardSpikes(
  component: string,
  values: readonly (number | null)[],
  { center, deviation, known }: SpikeHistory,
  { alertThresholds }: ResolvedAssessorOptions,
): BatchFinding[] {
  return values.flatMap((value, index) => {
    if (value === null || !Number.isFinite(value)) return [];
    const score = Math.abs(value - center) / deviation;
    if (score <= alertThresholds.rewardSpikeStd) return [];
    if (known !== undefined && value >= known.low && value <= known.high) return [];
    return batchFinding({
      rule: 'reward_spike',
      severity: 'medium',
      component,
      message: `Unusual reward spike in '${component}': value=${fixed(value, 3)}, z-score=${fixed(score, 2)}`,
      evidence: { value, z_score: score, mean: center, std: deviation },
      responses: [index],
    });
  });
}
