import type { Finding } from '@rlp/core';
import type { MeasuredBatch } from './batch.ts';
import { fixed, percent, pythonNumber } from './number-format.ts';
import type { ResolvedAssessorOptions } from './options.ts';
import type { Pathology } from './pathology.ts';

/** A finding about a batch. Responses are given by their indices. */
export interface BatchFinding extends Pick<Finding, 'severity' | 'message' | 'evidence' | 'component'> {
  readonly rule: Pathology;
  readonly responses?: readonly number[];
}

/** The pathologies of a batch: those of its rewards, those of its responses, and values far outside their history. */
export function pathologiesOf(batch: MeasuredBatch, options: ResolvedAssessorOptions): BatchFinding[] {
  return [
    ...batch.judged.flatMap((component) => saturations(component, batch, options)),
    ...batch.judged.flatMap((component) => varianceCollapse(component, batch, options)),
    ...contentPathologies(batch, options),
    ...[...batch.histories.keys()].flatMap((component) => rewardSpikes(component, batch, options)),
    ...degenerateOutputs(batch, options),
  ];
}

function saturations(
  component: string,
  { windows, statistics }: MeasuredBatch,
  { alertThresholds }: ResolvedAssessorOptions,
): BatchFinding[] {
  const { max, min } = statistics[component]!;
  if (max === min) return [];
  const bounds = [
    { rule: 'reward_saturation_high', limit: alertThresholds.rewardSaturationHigh, name: 'max', value: max },
    { rule: 'reward_saturation_low', limit: alertThresholds.rewardSaturationLow, name: 'min', value: min },
  ] as const;
  return bounds.flatMap(({ rule, limit, name, value }) => {
    const rate = windows.get(component)!.shareAt(value);
    if (rate <= limit) return [];
    const message = `Reward '${component}' saturating at ${name}imum: ${percent(rate)} of samples at ${name} value ${pythonNumber(value)}`;
    const evidence = { saturation_rate: rate, [`${name}_value`]: value };
    return [{ rule, severity: rate > 0.95 ? 'high' : 'medium', message, evidence, component }];
  });
}

/** A reward that is always 0 has collapsed too. With the conventions of TunRex it has not. */
function varianceCollapse(
  component: string,
  { statistics }: MeasuredBatch,
  { alertThresholds, conventions }: ResolvedAssessorOptions,
): BatchFinding[] {
  const { mean, std } = statistics[component]!;
  if (mean === 0 && (conventions === 'tunrex' || std > 0)) return [];
  const cv = mean === 0 ? 0 : std / Math.abs(mean);
  // NaN if the sum of the rewards overflows.
  if (!(cv < alertThresholds.varianceCollapse)) return [];
  const numbers = `CV=${fixed(cv, 4)}, std=${fixed(std, 4)}, mean=${fixed(mean, 4)}`;
  const message = `Reward '${component}' variance collapsed: ${numbers}`;
  const evidence = { cv, std, mean };
  return [{ rule: 'variance_collapse', severity: 'critical', message, evidence, component }];
}

/** Format gaming, repetition and loss of diversity. */
function contentPathologies(
  { quality, recent: { different, count } = { different: 0, count: 0 } }: MeasuredBatch,
  { alertThresholds }: ResolvedAssessorOptions,
): BatchFinding[] {
  const found: BatchFinding[] = [];
  const gaming = quality.shareOfFormatted(quality.gaming.length);
  if (gaming > alertThresholds.formatGaming) {
    const message = `Suspected format gaming: ${percent(gaming)} of formatted responses have low-quality content`;
    const { gaming: responses, formatted } = quality;
    const counts = { gaming_count: responses.length, total_formatted: formatted.length };
    const evidence = { gaming_rate: gaming, ...counts };
    found.push({ rule: 'format_gaming', severity: 'critical', message, evidence, responses });
  }
  const repetition = quality.mean((one) => one.repetition);
  if (repetition > alertThresholds.repetition) {
    const responses = quality.where((one) => one.repetition > 0.7);
    const message = `Excessive repetition detected: avg=${percent(repetition)}, ${responses.length}/${quality.all.length} responses highly repetitive`;
    const evidence = { avg_repetition: repetition, high_repetition_count: responses.length };
    found.push({ rule: 'excessive_repetition', severity: 'high', message, evidence, responses });
  }
  const diversity = different / count;
  if (diversity < alertThresholds.diversityCollapse) {
    const message = `Response diversity collapsed: only ${percent(diversity)} unique responses in recent ${count} samples`;
    const evidence = { unique_ratio: diversity, total_responses: count, unique_responses: different };
    found.push({ rule: 'diversity_collapse', severity: 'critical', message, evidence });
  }
  return found;
}

/** One finding for all spikes of a component, the widest first. TunRex has one for each. */
function rewardSpikes(
  component: string,
  { rewards, histories }: MeasuredBatch,
  { alertThresholds, conventions }: ResolvedAssessorOptions,
): BatchFinding[] {
  const { center, deviation, low, high } = histories.get(component)!;
  const spikes = rewards[component]!.flatMap((value, index) => {
    if (value === null || !Number.isFinite(value) || (value >= low && value <= high)) return [];
    const score = Math.abs(value - center) / deviation;
    return score > alertThresholds.rewardSpikeStd ? [{ value, score, index }] : [];
  });
  const told = conventions === 'tunrex' ? spikes : spikes.sort((a, b) => b.score - a.score).slice(0, 1);
  return told.map(({ value, score, index }): BatchFinding => {
    const evidence = { value, z_score: score, mean: center, std: deviation };
    const responses = conventions === 'tunrex' ? [index] : spikes.map((spike) => spike.index);
    const more = responses.length > 1 ? `, and ${responses.length - 1} more` : '';
    const message = `Unusual reward spike in '${component}': value=${fixed(value, 3)}, z-score=${fixed(score, 2)}${more}`;
    return { rule: 'reward_spike', severity: 'medium', message, evidence, component, responses };
  });
}

/** Empty or malformed responses. */
function degenerateOutputs(
  { quality }: MeasuredBatch,
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
  return [{ rule: 'degenerate_outputs', severity: 'high', message, evidence, responses: quality.empty }];
}
