import { type Finding, parseOptions, type Severity } from '@rlp/core';
import * as z from 'zod';
import { count, initial, packed, restored, type Saved, saved } from '../state/saved.ts';
import { DuplicateWindow } from '../text/duplicate-window.ts';
import { signatureLength } from '../text/sequences.ts';
import { alertSummary, alertsSchema, countAlert } from './alert-counts.ts';
import { type AssessedBatch, checkLengths, type MeasuredBatch } from './batch.ts';
import { Learning, learningStateSchema } from './learning.ts';
import { BatchQuality, type RewardQualityMetrics } from './metrics.ts';
import { type AssessorOptions, assessorOptions, type ResolvedAssessorOptions } from './options.ts';
import { type BatchFinding, pathologiesOf } from './pathologies.ts';
import { pathologyNotes } from './pathology.ts';
import { ResponseJudge } from './response-judge.ts';
import { type RewardStatistics, RewardWindow, type SpikeHistory } from './reward-window.ts';

/** Result of {@link RewardQualityAssessor.assessBatch}. */
export interface Assessment {
  readonly metrics: RewardQualityMetrics;
  readonly findings: readonly Finding[];
  /** Errors of the option `coherence`, one for each response that it failed for. */
  readonly faults: readonly string[];
}

/** Summary of an assessor, as JSON data. */
export interface AssessmentSummary {
  readonly totalSamples: number;
  /** Responses in the window. */
  readonly windowSize: number;
  readonly totalAlerts: number;
  readonly alertsBySeverity: Readonly<Partial<Record<Severity, number>>>;
  readonly alertsByRule: Readonly<Record<string, number>>;
  readonly rewardStatistics: Readonly<Record<string, RewardStatistics>>;
  /** Missing values by reward. */
  readonly invalidRewards: Readonly<Record<string, number>>;
}

const assessorSchema = z.strictObject({
  samples: count,
  batches: count,
  alerts: alertsSchema,
  invalid: z.record(z.string(), count),
  rewards: z.record(z.string(), z.array(z.number())),
  learning: learningStateSchema,
  signatures: packed(Uint32Array).refine(
    ({ length }) => length % signatureLength === 0,
    'expected whole signatures',
  ),
});

/** State of a {@link RewardQualityAssessor}, as JSON data. */
export type SavedAssessor = Saved<typeof assessorSchema>;

/** Findings kept for {@link RewardQualityAssessor.getRecentAlerts}. */
const alertsKept = 1000;
/** Responses that a finding quotes. */
export const samplesKept = 3;

/**
 * Assesses responses and their rewards batch by batch. Returns metrics and findings of eight pathologies.
 *
 * Memory is bounded by the windows. The same batches in the same order give the same assessments.
 *
 * @example
 * const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 64 });
 * const { metrics, findings } = assessor.assessBatch({ responses, rewards: { format, accuracy } });
 * for (const finding of findings) console.log(formatFinding(finding));
 */
export class RewardQualityAssessor {
  readonly options: ResolvedAssessorOptions;
  readonly #judge: ResponseJudge;
  #responses: DuplicateWindow;
  readonly #rewards = new Map<string, RewardWindow>();
  readonly #recent: Finding[] = [];
  readonly #learning: Learning;
  /** What is counted. Missing values are counted by reward. */
  #counts = { samples: 0, batches: 0, alerts: initial(alertsSchema), invalid: new Map<string, number>() };

  /** @throws OptionsError for options out of range, and tags that are not plain words. */
  constructor(options: AssessorOptions = {}) {
    this.options = parseOptions('RewardQualityAssessor', assessorOptions, options);
    this.#judge = new ResponseJudge(this.options);
    this.#learning = new Learning(this.options);
    this.#responses = this.#newWindow();
  }

  /** Responses assessed so far. */
  get samples(): number {
    return this.#counts.samples;
  }

  /**
   * Assesses a batch and remembers it.
   *
   * @throws ArgumentError if a reward does not have one value per response. Nothing is remembered then.
   */
  assessBatch(given: AssessedBatch): Assessment {
    checkLengths(given);
    const { windowSize, explainedByLearning, conventions } = this.options;
    const batch = this.#measured(given);
    const metrics = this.#metrics(batch);
    const seen = Math.min(this.#counts.samples, windowSize);
    const isAnalysed = batch.responses.length > 0 && this.#isEnough(seen, windowSize);
    const found = isAnalysed ? pathologiesOf(batch, this.options) : [];
    const asks = explainedByLearning === 'lower' && conventions === 'rlp';
    const told = asks ? this.#learning.lowered(found, batch) : found;
    const findings = told.map((one) => this.#finding(one, batch));
    this.#counts.batches += 1;
    return { metrics, findings, faults: batch.quality.faults };
  }

  /** The last findings, newest last. */
  getRecentAlerts(count = 10): readonly Finding[] {
    return count <= 0 ? [] : this.#recent.slice(-count);
  }

  /** Forgets findings and their counts. The windows stay. */
  resetAlerts(): void {
    this.#recent.length = 0;
    this.#counts.alerts = initial(alertsSchema);
  }

  /** Forgets the windows of rewards and responses. Counts stay. */
  clearHistory(): void {
    this.#rewards.clear();
    this.#responses = this.#newWindow();
  }

  getSummaryStatistics(): AssessmentSummary {
    return {
      totalSamples: this.#counts.samples,
      windowSize: Math.min(this.#counts.samples, this.options.windowSize),
      ...alertSummary(this.#counts.alerts),
      rewardStatistics: this.#statistics(),
      invalidRewards: Object.fromEntries(this.#counts.invalid),
    };
  }

  /** State without the recent findings. */
  saveState(): SavedAssessor {
    const rewards = [...this.#rewards].map(([name, window]) => [name, Array.from(window.values())] as const);
    return saved(assessorSchema, {
      ...this.#counts,
      invalid: Object.fromEntries(this.#counts.invalid),
      learning: this.#learning.state,
      rewards: Object.fromEntries(rewards),
      signatures: this.#responses.signatures(),
    });
  }

  /**
   * Continues from {@link RewardQualityAssessor.saveState} of an assessor with the same options.
   *
   * @throws FormatError for anything else. Nothing is changed then.
   */
  loadState(state: unknown): void {
    const given = restored('RewardQualityAssessor', assessorSchema, state);
    const { rewards, signatures, learning, invalid, ...counts } = given;
    this.resetAlerts();
    this.clearHistory();
    for (const [name, values] of Object.entries(rewards)) {
      const window = this.#windowOf(name);
      for (const value of values) window.add(value);
    }
    this.#responses.addAll(signatures);
    this.#learning.state = learning;
    this.#counts = { ...counts, invalid: new Map(Object.entries(invalid)) };
  }

  #newWindow(): DuplicateWindow {
    const { windowSize, diversityWindow, nearDuplicates } = this.options;
    const similarity = nearDuplicates === 'off' ? 1 : nearDuplicates;
    return new DuplicateWindow(Math.min(windowSize, diversityWindow), similarity);
  }

  /** Adds a batch to the windows and measures it. */
  #measured(given: AssessedBatch): MeasuredBatch {
    const { responses, rewards } = given;
    const { windowSize, diversityWindow } = this.options;
    const quality = new BatchQuality(this.#judge.judge(responses));
    for (const { signature } of quality.all) this.#responses.add(signature);
    this.#counts.samples += responses.length;
    const histories = new Map<string, SpikeHistory>();
    for (const [name, values] of Object.entries(rewards)) {
      const history = this.#addRewards(name, values);
      if (history !== undefined) histories.set(name, history);
    }
    const isJudged = (name: string) => this.#isEnough(this.#windowOf(name).count, windowSize);
    const isDiverse = this.#isEnough(this.#responses.count, Math.min(windowSize, diversityWindow));
    const { batches } = this.#counts;
    return {
      ...given,
      tasks: given.tasks ?? responses.map((_, at) => `${batches}/${at}`),
      iteration: given.iteration ?? batches,
      ...{ quality, histories, windows: this.#rewards, judged: Object.keys(rewards).filter(isJudged) },
      ...{ statistics: this.#statistics(), recent: isDiverse ? this.#responses : undefined },
    };
  }

  /** Adds rewards to their window. @returns What spikes among them are measured against, if it is known. */
  #addRewards(name: string, values: readonly (number | null)[]): SpikeHistory | undefined {
    const { conventions, windowSize } = this.options;
    const window = this.#windowOf(name);
    const history = () =>
      this.#isEnough(window.count, windowSize) ? window.spikeHistory(conventions) : undefined;
    const before = history();
    for (const value of values) {
      if (value !== null && Number.isFinite(value)) window.add(value);
      else this.#counts.invalid.set(name, (this.#counts.invalid.get(name) ?? 0) + 1);
    }
    return conventions === 'tunrex' ? history() : before;
  }

  /** Whether there are enough samples to alert. A full window suffices, except with the conventions of TunRex. */
  #isEnough(count: number, size: number): boolean {
    const { conventions, minSamplesForAnalysis: least } = this.options;
    return count >= (conventions === 'tunrex' ? least : Math.min(least, size));
  }

  #windowOf(name: string): RewardWindow {
    const window = this.#rewards.get(name) ?? new RewardWindow(this.options.windowSize);
    this.#rewards.set(name, window);
    return window;
  }

  #statistics(): Record<string, RewardStatistics> {
    const known = [...this.#rewards].flatMap(([name, window]) => {
      const statistics = window.statistics();
      return statistics === undefined ? [] : [[name, statistics] as const];
    });
    return Object.fromEntries(known);
  }

  #metrics({ quality, responses, statistics }: MeasuredBatch): RewardQualityMetrics {
    const { different, count } = this.#responses;
    return {
      ...quality.metrics(),
      uniqueResponsesRatio: quality.share(new Set(responses).size),
      windowDiversity: count === 0 ? 0 : different / count,
      // TunRex counts every short response, formatted or not, as soon as one is formatted.
      suspectedFormatGaming:
        this.options.conventions === 'rlp'
          ? quality.shareOfFormatted(quality.gaming.length)
          : quality.share(quality.formatted.length > 0 ? quality.where(({ isShort }) => isShort).length : 0),
      suspectedRewardHacking: 0,
      rewardBehaviourChanged: 0,
      rewards: statistics,
    };
  }

  /** Makes a finding of the record and remembers it. */
  #finding({ responses: at, ...found }: BatchFinding, { responses, ids, iteration }: MeasuredBatch): Finding {
    const finding = {
      ...found,
      note: pathologyNotes[found.rule],
      iteration,
      responsesSeen: this.#counts.samples,
      ...(at && {
        trajectories: at.map((index) => ids?.[index] ?? String(index)),
        samples: at.slice(0, samplesKept).map((index) => responses[index]!),
      }),
    };
    countAlert(this.#counts.alerts, finding);
    this.#recent.push(finding);
    if (this.#recent.length > alertsKept) this.#recent.shift();
    return finding;
  }
}
