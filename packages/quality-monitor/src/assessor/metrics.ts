import type { Metrics } from '@rlp/core';
import type { ResponseJudge, ResponseQuality } from './response-judge.ts';
import { meanOf, type RewardStatistics } from './reward-window.ts';

/** Quality of one batch. Shares, scores and ratios lie in 0–1. They are 0 for an empty batch. */
export interface RewardQualityMetrics {
  /** Share of responses with a pair of each tag. */
  readonly formatComplianceRate: number;
  /** Share with both reasoning tags in any order. */
  readonly tagCorrectnessRate: number;
  /** Characters between the reasoning tags. 0 for a response that is not formatted. */
  readonly avgReasoningLength: number;
  /** Characters between the answer tags. 0 for a response that is not formatted. */
  readonly avgAnswerLength: number;
  /** Mean share of three-word sequences that repeat within their response. */
  readonly repetitionRate: number;
  /** Share of empty or malformed responses. */
  readonly emptyContentRate: number;
  /** Share of different responses in the batch. */
  readonly uniqueResponsesRatio: number;
  /** Share of different responses in the diversity window. Near-duplicates count as one. */
  readonly windowDiversity: number;
  /** Share of different words among all words of the batch. */
  readonly lexicalDiversity: number;
  /** Mean coherence of the responses that could be scored. */
  readonly coherence: number;
  /** Share of formatted responses with worthless content. 0 if none is formatted. */
  readonly suspectedFormatGaming: number;
  /** Evidence of reward hacking. An alarm starts at 0.5. */
  readonly suspectedRewardHacking: number;
  /** Evidence that rewarded responses changed. A suspicion starts at 0.5. */
  readonly rewardBehaviourChanged: number;
  /** Statistics of each reward over its window. */
  readonly rewards: Readonly<Record<string, RewardStatistics>>;
}

/** Quality of each response of a batch. */
export class BatchQuality {
  readonly all: readonly ResponseQuality[];
  /** Indices of the responses. */
  readonly formatted: readonly number[];
  readonly gaming: readonly number[];
  readonly empty: readonly number[];
  /** Errors of the option `coherence`. */
  readonly faults: readonly string[];
  readonly #differentWords: number;

  constructor({ all, differentWords, faults }: ReturnType<ResponseJudge['judge']>) {
    this.all = all;
    this.faults = faults;
    this.#differentWords = differentWords;
    this.formatted = this.where(({ isFormatted }) => isFormatted);
    this.gaming = this.where(({ isGaming }) => isGaming);
    this.empty = this.where(({ isEmpty }) => isEmpty);
  }

  /** The metrics that are shares and means over the responses. */
  metrics() {
    const ofFormatted = (of: 'reasoningLength' | 'answerLength') =>
      this.mean((quality) => (quality.isFormatted ? quality[of] : 0));
    const words = this.all.reduce((sum, quality) => sum + quality.words, 0);
    return {
      formatComplianceRate: this.share(this.formatted.length),
      tagCorrectnessRate: this.mean(({ hasReasoningTags }) => (hasReasoningTags ? 1 : 0)),
      avgReasoningLength: ofFormatted('reasoningLength'),
      avgAnswerLength: ofFormatted('answerLength'),
      repetitionRate: this.mean(({ repetition }) => repetition),
      emptyContentRate: this.share(this.empty.length),
      lexicalDiversity: words === 0 ? 0 : this.#differentWords / words,
      coherence: meanOf(this.all.flatMap(({ coherence }) => coherence ?? [])),
    };
  }

  /** Indices of the responses that have a quality. */
  where(has: (quality: ResponseQuality) => boolean): number[] {
    return this.all.flatMap((quality, at) => (has(quality) ? [at] : []));
  }

  /** Mean over all responses. 0 for none. */
  mean(of: (quality: ResponseQuality) => number): number {
    return meanOf(this.all.map(of));
  }

  /** Share of all responses. */
  share(count: number): number {
    return count / Math.max(1, this.all.length);
  }

  /** Share of the formatted responses. */
  shareOfFormatted(count: number): number {
    return count / Math.max(1, this.formatted.length);
  }
}

/** Flattens metrics to the names of log files, such as `repetition_rate` and `reward_<name>_<statistic>`. */
export function flatMetrics(metrics: Partial<RewardQualityMetrics>): Metrics {
  const { rewards = {}, ...own } = metrics;
  const flat: Record<string, number> = {};
  for (const [name, value] of Object.entries(own)) {
    flat[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
  }
  for (const [reward, statistics] of Object.entries(rewards)) {
    for (const [name, value] of Object.entries(statistics)) flat[`reward_${reward}_${name}`] = value;
  }
  return flat;
}
