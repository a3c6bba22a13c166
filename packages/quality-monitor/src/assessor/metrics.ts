import type { Metrics } from '@rlp/core';
import type { ResponseQuality } from './response-quality.ts';
import type { RewardStatistics } from './reward-window.ts';

/** Quality of one batch. Shares, scores and ratios lie in 0..1; those of an empty batch are 0. */
export interface RewardQualityMetrics {
  /** Share with a pair of each tag. */
  readonly formatComplianceRate: number;
  /** Share with both reasoning tags, even if malformed: in any order, and without an answer. */
  readonly tagCorrectnessRate: number;
  /** Characters between the reasoning tags, 0 for a response that is not formatted. */
  readonly avgReasoningLength: number;
  readonly avgAnswerLength: number;
  /** Mean share of three-word sequences that occurred before in their response. */
  readonly repetitionRate: number;
  /** Share of empty or malformed responses. */
  readonly emptyContentRate: number;
  /** Different responses over all of the batch. */
  readonly uniqueResponsesRatio: number;
  /** The same over the diversity window, near-duplicates counting as one. */
  readonly windowDiversity: number;
  /** Different words over all words of the batch. */
  readonly lexicalDiversity: number;
  /** Mean of how much responses read like text, of those that could be judged. */
  readonly coherence: number;
  /** Share of the formatted responses whose content is worth nothing; 0 where none is formatted. */
  readonly suspectedFormatGaming: number;
  /** How much points to reward hacking. */
  readonly suspectedRewardHacking: number;
  /** Of each reward component, over its window. */
  readonly rewards: Readonly<Record<string, RewardStatistics>>;
}

/** Sums over the responses of a batch. */
export class QualitySums {
  count = 0;
  formatted = 0;
  short = 0;
  /** Indices of responses. */
  readonly gaming: number[] = [];
  readonly empty: number[] = [];
  readonly highlyRepetitive: number[] = [];
  repetition = 0;
  coherence = 0;
  /** Responses whose coherence is known. */
  judged = 0;
  words = 0;
  differentWords = 0;
  /** What went wrong in judging coherence. */
  faults: readonly string[] = [];
  withReasoning = 0;
  reasoningLength = 0;
  answerLength = 0;

  add(quality: ResponseQuality): void {
    const index = this.count;
    this.count += 1;
    this.words += quality.words;
    this.repetition += quality.repetition;
    if (quality.coherence !== undefined) {
      this.coherence += quality.coherence;
      this.judged += 1;
    }
    if (quality.hasReasoningTags) this.withReasoning += 1;
    if (quality.isShort) this.short += 1;
    if (quality.isEmpty) this.empty.push(index);
    if (quality.isGaming) this.gaming.push(index);
    if (quality.repetition > 0.7) this.highlyRepetitive.push(index);
    if (quality.shape !== 'formatted') return;
    this.formatted += 1;
    this.reasoningLength += quality.reasoningLength;
    this.answerLength += quality.answerLength;
  }

  /** Over all responses. */
  share(sum: number): number {
    return this.count === 0 ? 0 : sum / this.count;
  }

  /** Over formatted responses. */
  shareOfFormatted(sum: number): number {
    return this.formatted === 0 ? 0 : sum / this.formatted;
  }
}

/** Metrics as one flat record with the seed's names, as log files have them: `reward_<name>_<statistic>`. */
export function flatMetrics(metrics: RewardQualityMetrics): Metrics {
  const { rewards, ...own } = metrics;
  const flat: Record<string, number> = {};
  for (const [name, value] of Object.entries(own)) flat[snakeCase(name)] = value;
  for (const [reward, statistics] of Object.entries(rewards)) {
    for (const [name, value] of Object.entries(statistics)) flat[`reward_${reward}_${name}`] = value;
  }
  return flat;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
