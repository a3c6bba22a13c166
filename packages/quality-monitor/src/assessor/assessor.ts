import { ArgumentError, type Severity } from '@rlp/core';
import { DuplicateWindow } from '../text/duplicate-window.ts';
import type { ReadText } from '../text/read-text.ts';
import type { PathologyAlert, PathologyType } from './alert.ts';
import { AlertCounts } from './alert-counts.ts';
import type { QualitySums, RewardQualityMetrics } from './metrics.ts';
import { type AssessorOptions, type ResolvedAssessorOptions, resolveAssessorOptions } from './options.ts';
import {
  contentPathologies,
  type Diagnosis,
  degenerateOutputs,
  rewardPathologies,
  rewardSpikes,
  type SpikeHistory,
  spikeHistory,
} from './pathologies.ts';
import { ResponseJudge } from './response-judge.ts';
import { type RewardStatistics, RewardWindow } from './reward-window.ts';
import { type AssessorState, parseAssessorState, signaturesFromText, signaturesToText } from './state.ts';

/** A batch as the assessor reads it. */
export interface AssessedBatch {
  readonly responses: readonly string[];
  /** One value per response for each reward; `null` or a value that is not finite where there is none. */
  readonly rewards: Readonly<Record<string, readonly (number | null)[]>>;
}

/** What {@link RewardQualityAssessor.assessBatch} found. */
export interface Assessment {
  readonly metrics: RewardQualityMetrics;
  readonly alerts: readonly PathologyAlert[];
  /** What the option `coherence` threw, or gave in place of a number, for each response that it failed for. */
  readonly faults: readonly string[];
}

/** What {@link RewardQualityAssessor.getSummaryStatistics} tells, as JSON data. */
export interface AssessmentSummary {
  readonly totalSamples: number;
  /** Responses assessed, at most as many as a window holds. */
  readonly windowSize: number;
  readonly totalAlerts: number;
  readonly alertsBySeverity: Readonly<Partial<Record<Severity, number>>>;
  readonly alertsByType: Readonly<Partial<Record<PathologyType, number>>>;
  readonly rewardStatistics: Readonly<Record<string, Omit<RewardStatistics, 'median'>>>;
  /** Rewards that were missing or not finite, by component. */
  readonly invalidRewards: Readonly<Record<string, number>>;
}

/** Alerts that are kept for {@link RewardQualityAssessor.getRecentAlerts}. */
const alertsKept = 1000;

/**
 * Assesses the quality of responses and their rewards, batch by batch: metrics, and alerts for eight pathologies.
 *
 * Memory is bounded by the windows. The same batches in the same order give the same assessments.
 *
 * @example
 * const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 64 });
 * const { metrics, alerts } = assessor.assessBatch({ responses, rewards: { format, accuracy } });
 * for (const alert of alerts) console.log(formatAlert(alert));
 */
export class RewardQualityAssessor {
  readonly options: ResolvedAssessorOptions;
  readonly #judge: ResponseJudge;
  #responses: DuplicateWindow;
  readonly #rewards = new Map<string, RewardWindow>();
  readonly #invalid = new Map<string, number>();
  readonly #recent: PathologyAlert[] = [];
  readonly #counts = new AlertCounts();
  #samples = 0;

  /** @throws OptionsError for options outside their ranges, ArgumentError for tags that are not plain words. */
  constructor(options: AssessorOptions = {}) {
    this.options = resolveAssessorOptions(options);
    this.#judge = new ResponseJudge(this.options);
    this.#responses = this.#newWindow();
  }

  /** Responses assessed so far. */
  get samples(): number {
    return this.#samples;
  }

  /**
   * Assesses a batch and remembers it.
   *
   * @param texts - The responses, where they have been read already; what is one object is judged once.
   * @throws ArgumentError when a reward has not one value per response; nothing is remembered then.
   */
  assessBatch({ responses, rewards }: AssessedBatch, texts?: readonly ReadText[]): Assessment {
    checkLengths(responses, rewards);
    const sums = this.#judge.judge(responses, this.#responses, texts);
    const unique = new Set(responses).size;
    this.#samples += responses.length;
    const { windowSize } = this.options;
    const isAnalysed = this.#isEnough(Math.min(this.#samples, windowSize), windowSize);
    const spikes = this.#addRewards(rewards);
    const metrics = this.#metrics(sums, unique);
    const found =
      isAnalysed && responses.length > 0
        ? [
            ...this.#ofRewards(Object.keys(rewards)),
            ...this.#ofResponses(sums),
            ...spikes,
            ...degenerateOutputs(sums, this.options),
          ]
        : [];
    const alerts = found.map((diagnosis) => ({ ...diagnosis, timestamp: this.#samples }));
    for (const alert of alerts) this.#remember(alert);
    return { metrics, alerts, faults: sums.faults };
  }

  /** The last alerts, newest last. */
  getRecentAlerts(count = 10): readonly PathologyAlert[] {
    return count <= 0 ? [] : this.#recent.slice(-count);
  }

  /** Forgets alerts and their counts; the windows stay. */
  resetAlerts(): void {
    this.#recent.length = 0;
    this.#counts.clear();
  }

  /** Forgets rewards and responses, and with them what alerts are judged by; counts stay. */
  clearHistory(): void {
    this.#rewards.clear();
    this.#responses = this.#newWindow();
  }

  getSummaryStatistics(): AssessmentSummary {
    const statistics = [...this.#rewards].flatMap(([name, window]) => {
      const found = window.statistics();
      if (found === undefined) return [];
      const { median, ...rest } = found;
      return [[name, rest] as const];
    });
    const { bySeverity, byType } = this.#counts.saveState();
    return {
      totalSamples: this.#samples,
      windowSize: Math.min(this.#samples, this.options.windowSize),
      totalAlerts: this.#counts.total,
      alertsBySeverity: bySeverity,
      alertsByType: byType,
      rewardStatistics: Object.fromEntries(statistics),
      invalidRewards: Object.fromEntries(this.#invalid),
    };
  }

  /** Everything it remembers but the alerts themselves, as JSON data. What is long is written when it is read. */
  saveState(): AssessorState {
    const signatures = this.#responses.signatures();
    const rewards = [...this.#rewards].map(([name, window]) => [name, window.values()] as const);
    return {
      samples: this.#samples,
      alerts: this.#counts.total,
      ...this.#counts.saveState(),
      invalid: Object.fromEntries(this.#invalid),
      get rewards() {
        return Object.fromEntries(rewards.map(([name, values]) => [name, [...values]]));
      },
      get signatures() {
        return signaturesToText(signatures);
      },
    };
  }

  /**
   * Continues from {@link RewardQualityAssessor.saveState} of an assessor with the same options; forgets what was before.
   *
   * @throws FormatError for anything else; nothing is changed then.
   */
  loadState(state: unknown): void {
    const saved = parseAssessorState(state);
    this.resetAlerts();
    this.#rewards.clear();
    this.#responses = this.#newWindow();
    for (const [name, values] of Object.entries(saved.rewards)) {
      const window = this.#windowOf(name);
      for (const value of values) window.add(value);
    }
    for (const signature of signaturesFromText(saved.signatures)) this.#responses.add(signature);
    this.#counts.loadState(saved);
    this.#invalid.clear();
    for (const [name, count] of Object.entries(saved.invalid)) this.#invalid.set(name, count);
    this.#samples = saved.samples;
  }

  #newWindow(): DuplicateWindow {
    const { windowSize, diversityWindow, nearDuplicates } = this.options;
    return new DuplicateWindow({
      size: Math.min(windowSize, diversityWindow),
      similarity: nearDuplicates === 'off' ? 1 : nearDuplicates,
    });
  }

  /** Adds the batch's rewards to their windows; returns its spikes. */
  #addRewards(rewards: AssessedBatch['rewards']): Diagnosis[] {
    return Object.entries(rewards).flatMap(([name, values]) => {
      const window = this.#windowOf(name);
      const before = this.#historyOf(window);
      for (const value of values) {
        if (value !== null && Number.isFinite(value)) window.add(value);
        else this.#invalid.set(name, (this.#invalid.get(name) ?? 0) + 1);
      }
      const history = this.options.conventions === 'tunrex' ? this.#historyOf(window) : before;
      return history === undefined ? [] : rewardSpikes(name, values, history, this.options);
    });
  }

  #historyOf(window: RewardWindow): SpikeHistory | undefined {
    if (!this.#isEnough(window.count, this.options.windowSize)) return undefined;
    return spikeHistory(window, this.options);
  }

  /** Whether a window holds what alerts need: so many samples, or all that fit, of which the original never has enough. */
  #isEnough(count: number, size: number): boolean {
    const { conventions, minSamplesForAnalysis } = this.options;
    return (
      count >= (conventions === 'tunrex' ? minSamplesForAnalysis : Math.min(minSamplesForAnalysis, size))
    );
  }

  #windowOf(name: string): RewardWindow {
    const window = this.#rewards.get(name) ?? new RewardWindow(this.options.windowSize);
    this.#rewards.set(name, window);
    return window;
  }

  #metrics(sums: QualitySums, unique: number): RewardQualityMetrics {
    const { different, count } = this.#responses;
    const rewards = [...this.#rewards].flatMap(([name, window]) => {
      const statistics = window.statistics();
      return statistics === undefined ? [] : [[name, statistics] as const];
    });
    return {
      formatComplianceRate: sums.share(sums.formatted),
      tagCorrectnessRate: sums.share(sums.withReasoning),
      avgReasoningLength: sums.share(sums.reasoningLength),
      avgAnswerLength: sums.share(sums.answerLength),
      repetitionRate: sums.share(sums.repetition),
      emptyContentRate: sums.share(sums.empty.length),
      uniqueResponsesRatio: sums.share(unique),
      windowDiversity: count === 0 ? 0 : different / count,
      lexicalDiversity: sums.words === 0 ? 0 : sums.differentWords / sums.words,
      coherence: sums.judged === 0 ? 0 : sums.coherence / sums.judged,
      suspectedFormatGaming: this.#suspectedGaming(sums),
      suspectedRewardHacking: 0,
      rewards: Object.fromEntries(rewards),
    };
  }

  /** The original counts every short response, formatted or not, as soon as one is formatted. */
  #suspectedGaming(sums: QualitySums): number {
    if (this.options.conventions === 'rlp') return sums.shareOfFormatted(sums.gaming.length);
    return sums.formatted === 0 ? 0 : sums.share(sums.short);
  }

  /** What is wrong with the rewards of a batch. */
  #ofRewards(names: readonly string[]): Diagnosis[] {
    const windows = names.map((name) => [name, this.#windowOf(name)] as const);
    const judged = windows.filter(([, { count }]) => this.#isEnough(count, this.options.windowSize));
    return rewardPathologies(judged, this.options);
  }

  #ofResponses(sums: QualitySums): Diagnosis[] {
    const { windowSize, diversityWindow } = this.options;
    const isEnough = this.#isEnough(this.#responses.count, Math.min(windowSize, diversityWindow));
    return contentPathologies(sums, isEnough ? this.#responses : undefined, this.options);
  }

  #remember(alert: PathologyAlert): void {
    this.#counts.add(alert);
    this.#recent.push(alert);
    if (this.#recent.length > alertsKept) this.#recent.shift();
  }
}

function checkLengths(responses: readonly string[], rewards: AssessedBatch['rewards']): void {
  const problems = Object.entries(rewards).flatMap(([name, values]) =>
    values.length === responses.length ? [] : [`"${name}" has ${values.length}`],
  );
  if (problems.length === 0) return;
  throw new ArgumentError(
    `assessBatch: expected one reward per response, ${responses.length} of each; ${problems.join(', ')}`,
  );
}
