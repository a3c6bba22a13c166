import { ArgumentError, type Finding, parseOptions, type Severity } from '@rlp/core';
import * as z from 'zod';
import { initial, packed, restored, type Saved, saved } from '../state/saved.ts';
import { DuplicateWindow } from '../text/duplicate-window.ts';
import { signatureLength } from '../text/sequences.ts';
import { alertSummary, alertsSchema, countAlert } from './alert-counts.ts';
import { Learning, learningStateSchema } from './learning.ts';
import { BatchQuality, type RewardQualityMetrics } from './metrics.ts';
import { type AssessorOptions, assessorOptions, type ResolvedAssessorOptions } from './options.ts';
import {
  type BatchFinding,
  contentPathologies,
  degenerateOutputs,
  rewardPathologies,
  rewardSpikes,
  spikeHistory,
} from './pathologies.ts';
import { ResponseJudge } from './response-judge.ts';
import { type RewardStatistics, RewardWindow } from './reward-window.ts';

/** Responses and rewards to assess. */
export interface AssessedBatch {
  readonly responses: readonly string[];
  /** One value per response for each reward. `null` or a value that is not finite counts as missing. */
  readonly rewards: Readonly<Record<string, readonly (number | null)[]>>;
  /** Names the responses in findings. Default: their indices, `'0'`, `'1'`… */
  readonly ids?: readonly string[] | undefined;
  /** Task of each response. Default: each response is its own task. */
  readonly tasks?: readonly string[] | undefined;
  /** Iteration of the findings. Default: batches assessed before. */
  readonly iteration?: number | undefined;
}

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
  readonly rewardStatistics: Readonly<Record<string, Omit<RewardStatistics, 'median'>>>;
  /** Missing values by reward. */
  readonly invalidRewards: Readonly<Record<string, number>>;
}

const count = z.int().nonnegative();

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
const samplesKept = 3;

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

  /** @throws OptionsError for options out of range, ArgumentError for tags that are not plain words. */
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
  assessBatch(batch: AssessedBatch): Assessment {
    const { responses, rewards } = batch;
    checkLengths(responses, rewards);
    const quality = new BatchQuality(this.#judge, responses, this.#responses);
    this.#counts.samples += responses.length;
    const { windowSize } = this.options;
    const isAnalysed =
      responses.length > 0 && this.#isEnough(Math.min(this.#counts.samples, windowSize), windowSize);
    const spikes = this.#addRewards(rewards);
    const metrics = this.#metrics(quality, new Set(responses).size);
    const found = isAnalysed ? this.#pathologies(quality, Object.keys(rewards), spikes) : [];
    const { explainedByLearning, conventions } = this.options;
    const asks = explainedByLearning === 'lower' && conventions === 'rlp';
    const tasks = batch.tasks ?? responses.map((_, at) => `${this.#counts.batches}/${at}`);
    const told = asks
      ? this.#learning.lowered(found, { ...batch, tasks, quality, windows: this.#rewards })
      : found;
    const findings = told.map((one) => this.#finding(one, batch));
    this.#counts.batches += 1;
    return { metrics, findings, faults: quality.faults };
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
    const statistics = Object.entries(this.#statistics()).map(([name, { median, ...rest }]) => [name, rest]);
    return {
      totalSamples: this.#counts.samples,
      windowSize: Math.min(this.#counts.samples, this.options.windowSize),
      ...alertSummary(this.#counts.alerts),
      rewardStatistics: Object.fromEntries(statistics),
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
    return new DuplicateWindow({
      size: Math.min(windowSize, diversityWindow),
      similarity: nearDuplicates === 'off' ? 1 : nearDuplicates,
    });
  }

  /** Adds the batch's rewards to their windows. @returns Its spikes. */
  #addRewards(rewards: AssessedBatch['rewards']): BatchFinding[] {
    return Object.entries(rewards).flatMap(([name, values]) => {
      const window = this.#windowOf(name);
      const history = () =>
        this.#isEnough(window.count, this.options.windowSize)
          ? spikeHistory(window, this.options)
          : undefined;
      const before = history();
      for (const value of values) {
        if (value !== null && Number.isFinite(value)) window.add(value);
        else this.#counts.invalid.set(name, (this.#counts.invalid.get(name) ?? 0) + 1);
      }
      const yardstick = this.options.conventions === 'tunrex' ? history() : before;
      return yardstick === undefined ? [] : rewardSpikes(name, values, yardstick, this.options);
    });
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

  #metrics(quality: BatchQuality, unique: number): RewardQualityMetrics {
    const { different, count } = this.#responses;
    const hasFormatted = quality.formatted.length > 0;
    return {
      ...quality.metrics(),
      uniqueResponsesRatio: quality.share(unique),
      windowDiversity: count === 0 ? 0 : different / count,
      // TunRex counts every short response, formatted or not, as soon as one is formatted.
      suspectedFormatGaming:
        this.options.conventions === 'rlp'
          ? quality.shareOfFormatted(quality.gaming.length)
          : quality.share(hasFormatted ? quality.where(({ isShort }) => isShort).length : 0),
      suspectedRewardHacking: 0,
      rewards: this.#statistics(),
    };
  }

  #pathologies(
    quality: BatchQuality,
    names: readonly string[],
    spikes: readonly BatchFinding[],
  ): BatchFinding[] {
    const { windowSize, diversityWindow } = this.options;
    const windows = names.map((name) => [name, this.#windowOf(name)] as const);
    const judged = windows.filter(([, { count }]) => this.#isEnough(count, windowSize));
    const isEnough = this.#isEnough(this.#responses.count, Math.min(windowSize, diversityWindow));
    return [
      ...rewardPathologies(judged, this.options),
      ...contentPathologies(quality, isEnough ? this.#responses : undefined, this.options),
      ...spikes,
      ...degenerateOutputs(quality, this.options),
    ];
  }

  /** Makes a finding of the record and remembers it. */
  #finding({ responses: at, ...found }: BatchFinding, { responses, ids, iteration }: AssessedBatch): Finding {
    const finding = {
      ...found,
      iteration: iteration ?? this.#counts.batches,
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

function checkLengths(responses: readonly string[], rewards: AssessedBatch['rewards']): void {
  const problems = Object.entries(rewards).flatMap(([name, values]) =>
    values.length === responses.length ? [] : [`"${name}" has ${values.length}`],
  );
  if (problems.length === 0) return;
  throw new ArgumentError(
    `assessBatch: expected one reward per response (${responses.length}), but ${problems.join(', ')}`,
  );
}
