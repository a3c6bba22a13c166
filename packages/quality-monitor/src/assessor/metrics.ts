import type { Metrics } from '@rlp/core';
import type { DuplicateWindow } from '../text/duplicate-window.ts';
import type { ReadText } from '../text/text-reader.ts';
import type { ResponseJudge, ResponseQuality } from './response-judge.ts';
import type { RewardStatistics } from './reward-window.ts';

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
  /** Statistics of each reward over its window. */
  readonly rewards: Readonly<Record<string, RewardStatistics>>;
}

/** Sums over the responses of a batch. */
export class QualitySums {
  count = 0;
  short = 0;
  /** Indices of the responses. */
  readonly formatted: number[] = [];
  readonly gaming: number[] = [];
  readonly empty: number[] = [];
  /** Reasoning of the responses in `gaming`. */
  readonly thoughts: string[] = [];
  /** Responses in `gaming` that are trivial, repetitive or without a word. */
  worthless = 0;
  /** Length of each response's reasoning, or of its text if it is not formatted. */
  readonly content: number[] = [];
  readonly highlyRepetitive: number[] = [];
  repetition = 0;
  coherence = 0;
  /** Responses with a coherence. */
  judged = 0;
  words = 0;
  differentWords = 0;
  /** Errors of the option `coherence`. */
  faults: readonly string[] = [];
  withReasoning = 0;
  reasoningLength = 0;
  answerLength = 0;

  /**
   * Judges a batch. Equal responses are judged once.
   *
   * @param recent - Receives the responses.
   */
  constructor(judge: ResponseJudge, responses: readonly string[], recent: DuplicateWindow) {
    const judged = new Map<ReadText, ResponseQuality>();
    for (const [at, text] of judge.begin(responses).entries()) {
      const quality = judged.get(text) ?? judge.quality(responses[at]!, text);
      judged.set(text, quality);
      this.#add(quality);
      recent.add(quality.signature);
    }
    Object.assign(this, judge.findings);
  }

  #add(quality: ResponseQuality): void {
    const index = this.count;
    this.count += 1;
    this.words += quality.words;
    this.content.push(quality.contentLength);
    this.repetition += quality.repetition;
    if (quality.coherence !== undefined) {
      this.coherence += quality.coherence;
      this.judged += 1;
    }
    if (quality.hasReasoningTags) this.withReasoning += 1;
    if (quality.isShort) this.short += 1;
    if (quality.isEmpty) this.empty.push(index);
    if (quality.isGaming) {
      this.gaming.push(index);
      this.thoughts.push(quality.reasoning);
      if (quality.isWorthless) this.worthless += 1;
    }
    if (quality.repetition > 0.7) this.highlyRepetitive.push(index);
    if (!quality.isFormatted) return;
    this.formatted.push(index);
    this.reasoningLength += quality.reasoningLength;
    this.answerLength += quality.answerLength;
  }

  /** The metrics that are shares and means of these sums. */
  metrics() {
    return {
      formatComplianceRate: this.share(this.formatted.length),
      tagCorrectnessRate: this.share(this.withReasoning),
      avgReasoningLength: this.share(this.reasoningLength),
      avgAnswerLength: this.share(this.answerLength),
      repetitionRate: this.share(this.repetition),
      emptyContentRate: this.share(this.empty.length),
      lexicalDiversity: this.words === 0 ? 0 : this.differentWords / this.words,
      coherence: this.judged === 0 ? 0 : this.coherence / this.judged,
    };
  }

  /** Share of all responses. */
  share(sum: number): number {
    return this.count === 0 ? 0 : sum / this.count;
  }

  /** Share of the formatted responses. */
  shareOfFormatted(sum: number): number {
    return this.formatted.length === 0 ? 0 : sum / this.formatted.length;
  }
}

/** Flattens metrics to the names of log files, such as `repetition_rate` and `reward_<name>_<statistic>`. */
export function flatMetrics(metrics: RewardQualityMetrics): Metrics {
  const { rewards, ...own } = metrics;
  const flat: Record<string, number> = {};
  for (const [name, value] of Object.entries(own)) {
    flat[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value;
  }
  for (const [reward, statistics] of Object.entries(rewards)) {
    for (const [name, value] of Object.entries(statistics)) flat[`reward_${reward}_${name}`] = value;
  }
  return flat;
}
