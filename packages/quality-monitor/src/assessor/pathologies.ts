import type { Finding } from '@rlp/core';
import type { BatchQuality } from './metrics.ts';
import { fixed, percent, pythonNumber } from './number-format.ts';
import type { ResolvedAssessorOptions } from './options.ts';
import { type Pathology, pathologyNotes } from './pathology.ts';
import type { RewardStatistics, RewardWindow } from './reward-window.ts';

/** A finding about a batch. Responses are given by their indices. */
export interface BatchFinding extends Pick<Finding, 'severity' | 'message' | 'evidence' | 'note'> {
  readonly rule: Pathology;
  readonly component?: string;
  readonly responses?: readonly number[];
}

function batchFinding(
  rule: Pathology,
  severity: Finding['severity'],
  message: string,
  evidence: Finding['evidence'],
  where: Pick<BatchFinding, 'component' | 'responses'> = {},
): BatchFinding {
  return { rule, severity, message, evidence, note: pathologyNotes[rule], ...where };
}

/** Saturation of the rewards' windows, then variance collapse. */
export function rewardPathologies(
  windows: readonly (readonly [name: string, window: RewardWindow])[],
  options: ResolvedAssessorOptions,
): BatchFinding[] {
  const { rewardSaturationHigh, rewardSaturationLow } = options.alertThresholds;
  const known = windows.flatMap(([name, window]) => {
    const statistics = window.statistics();
    return statistics === undefined ? [] : [{ name, window, statistics }];
  });
  const saturated = known.flatMap(({ name, window, statistics: { max, min } }) => {
    if (max === min) return [];
    const [high, low] = [window.shareAt(max), window.shareAt(min)];
    return [
      ...(high > rewardSaturationHigh ? [saturation(name, 'maximum', high, max)] : []),
      ...(low > rewardSaturationLow ? [saturation(name, 'minimum', low, min)] : []),
    ];
  });
  return [
    ...saturated,
    ...known.flatMap(({ name, statistics }) => varianceCollapse(name, statistics, options)),
  ];
}

function saturation(
  component: string,
  bound: 'maximum' | 'minimum',
  rate: number,
  value: number,
): BatchFinding {
  const short = bound === 'maximum' ? 'max' : 'min';
  const rule = bound === 'maximum' ? 'reward_saturation_high' : 'reward_saturation_low';
  const message = `Reward '${component}' saturating at ${bound}: ${percent(rate)} of samples at ${short} value ${pythonNumber(value)}`;
  const evidence = { saturation_rate: rate, [`${short}_value`]: value };
  return batchFinding(rule, rate > 0.95 ? 'high' : 'medium', message, evidence, { component });
}

/** A reward that is always 0 has collapsed too. With the conventions of TunRex it has not. */
function varianceCollapse(
  component: string,
  { mean, std }: RewardStatistics,
  { alertThresholds, conventions }: ResolvedAssessorOptions,
): BatchFinding[] {
  if (mean === 0 && (conventions === 'tunrex' || std > 0)) return [];
  const cv = mean === 0 ? 0 : std / Math.abs(mean);
  // NaN if the sum of the rewards overflows.
  if (!(cv < alertThresholds.varianceCollapse)) return [];
  const numbers = `CV=${fixed(cv, 4)}, std=${fixed(std, 4)}, mean=${fixed(mean, 4)}`;
  const message = `Reward '${component}' variance collapsed: ${numbers}`;
  return [batchFinding('variance_collapse', 'critical', message, { cv, std, mean }, { component })];
}

/** Format gaming, repetition and loss of diversity. Omit `recent` if there are too few responses to judge diversity. */
export function contentPathologies(
  quality: BatchQuality,
  recent: { readonly different: number; readonly count: number } | undefined,
  { alertThresholds }: ResolvedAssessorOptions,
): BatchFinding[] {
  const found: BatchFinding[] = [];
  const gaming = quality.shareOfFormatted(quality.gaming.length);
  if (gaming > alertThresholds.formatGaming) {
    const message = `Suspected format gaming: ${percent(gaming)} of formatted responses have low-quality content`;
    const evidence = {
      gaming_rate: gaming,
      gaming_count: quality.gaming.length,
      total_formatted: quality.formatted.length,
    };
    found.push(batchFinding('format_gaming', 'critical', message, evidence, { responses: quality.gaming }));
  }
  const repetition = quality.mean((one) => one.repetition);
  if (repetition > alertThresholds.repetition) {
    const responses = quality.where((one) => one.repetition > 0.7);
    const message = `Excessive repetition detected: avg=${percent(repetition)}, ${responses.length}/${quality.all.length} responses highly repetitive`;
    const evidence = { avg_repetition: repetition, high_repetition_count: responses.length };
    found.push(batchFinding('excessive_repetition', 'high', message, evidence, { responses }));
  }
  const { different = 0, count = 0 } = recent ?? {};
  const diversity = different / count;
  if (diversity < alertThresholds.diversityCollapse) {
    const message = `Response diversity collapsed: only ${percent(diversity)} unique responses in recent ${count} samples`;
    const evidence = { unique_ratio: diversity, total_responses: count, unique_responses: different };
    found.push(batchFinding('diversity_collapse', 'critical', message, evidence));
  }
  return found;
}

/** Empty or malformed responses. */
export function degenerateOutputs(
  quality: BatchQuality,
  { alertThresholds, tags, conventions }: ResolvedAssessorOptions,
): BatchFinding[] {
  const empty = quality.share(quality.empty.length);
  if (empty <= alertThresholds.emptyContent) return [];
  const hasNoTags = conventions === 'rlp' && tags !== 'none' && quality.formatted.length === 0;
  const advice = hasNoTags
    ? `. None has <${tags.reasoning}> and <${tags.answer}>. For plain text set the option tags (flag --tags) to "none"`
    : '';
  const message = `High rate of degenerate outputs: ${percent(empty)} responses are empty or malformed${advice}`;
  const evidence = { empty_rate: empty, empty_count: quality.empty.length, total: quality.all.length };
  return [batchFinding('degenerate_outputs', 'high', message, evidence, { responses: quality.empty })];
}

/**
 * Returns the history that spikes are measured against.
 *
 * Center: the median before the batch. Deviation: 1.4826 times the median distance from it, or the standard deviation if
 * that is 0. A value within one deviation of the range seen before is not a spike. With the conventions of TunRex, mean and
 * standard deviation of the window including the batch are used.
 */
export function spikeHistory(window: RewardWindow, { conventions }: ResolvedAssessorOptions) {
  const statistics = window.statistics();
  if (statistics === undefined || statistics.std === 0) return undefined;
  const { mean, std, median, min, max } = statistics;
  // With the conventions of TunRex no value is known.
  if (conventions === 'tunrex') return { center: mean, deviation: std, low: Infinity, high: -Infinity };
  const deviation = window.robustDeviation() || std;
  return { center: median, deviation, low: min - deviation, high: max + deviation };
}

/** Values of a batch that lie far outside their history. */
export function rewardSpikes(
  component: string,
  values: readonly (number | null)[],
  { center, deviation, low, high }: NonNullable<ReturnType<typeof spikeHistory>>,
  { alertThresholds }: ResolvedAssessorOptions,
): BatchFinding[] {
  return values.flatMap((value, index) => {
    if (value === null || !Number.isFinite(value) || (value >= low && value <= high)) return [];
    const score = Math.abs(value - center) / deviation;
    if (score <= alertThresholds.rewardSpikeStd) return [];
    const message = `Unusual reward spike in '${component}': value=${fixed(value, 3)}, z-score=${fixed(score, 2)}`;
    const evidence = { value, z_score: score, mean: center, std: deviation };
    return batchFinding('reward_spike', 'medium', message, evidence, { component, responses: [index] });
  });
}
