import {
  ArgumentError,
  callback,
  Failures,
  type Finding,
  FormatError,
  having,
  type Metrics,
  type MetricsLogger,
  type Monitor,
  type MonitorBatch,
  type MonitorReport,
  parseOptions,
  type Severity,
  severities,
} from '@rlp/core';
import * as z from 'zod';
import { type AssessmentSummary, RewardQualityAssessor } from '../assessor/assessor.ts';
import { flatMetrics, type RewardQualityMetrics } from '../assessor/metrics.ts';
import type { RewardHackingDetector } from '../hacking/detector.ts';
import { restored, type Saved, saved } from '../state/saved.ts';
import { checkedBatch, type MonitoredBatch, rewardsOf, trajectoriesOf } from './batch.ts';
import { alertMetrics, namespaced, withSamples } from './logged.ts';
import { interventionConfig, type ResolvedInterventionConfig } from './options.ts';
import { interventionNote, Reactions, reactionsSchema } from './reactions.ts';

/** Schema of {@link RewardQualityMonitorParts}. */
export const partsSchema = z.strictObject({
  /** Default: an assessor with its defaults. */
  assessor: having<RewardQualityAssessor>('assessBatch', 'a RewardQualityAssessor').optional(),
  /** What to do about findings. Default: report those of severity `high` and above. */
  config: interventionConfig.prefault({}),
  /** Receive metrics under `reward_quality/`, findings and notes. Closed with the monitor. Default none. */
  loggers: z.array(having<MetricsLogger>('log', 'a logger')).readonly().default([]),
  /** Further monitors of the same batches, such as `rewardHackingDetector()`. Default none. */
  detectors: z.array(having<Monitor>('observe', 'a monitor')).readonly().default([]),
  /** Called once for each logger, detector, callback or reward that fails. Default `console.warn`. */
  onFailure: callback<(message: string) => void>('a function of a message').default(() => console.warn),
});

/** Parts of a {@link RewardQualityMonitor}. */
export interface RewardQualityMonitorParts extends z.input<typeof partsSchema> {}

/** Summary of a monitor, as JSON data. Alerts include those of detectors. */
export interface MonitoringSummary extends AssessmentSummary {
  readonly monitoring: {
    readonly totalAlertsBySeverity: Readonly<Record<Severity, number>>;
    readonly totalAlertsByRule: Readonly<Record<string, number>>;
    /** Batches with alerts per step of the aggregation window. */
    readonly recentAlertRate: number;
    /** Alerts that the rate limit held back. */
    readonly heldAlerts: number;
    /** Interventions that their cooldown held back. */
    readonly heldInterventions: number;
    /** Failures by name of the logger, callback, detector or reward. */
    readonly failures: Readonly<Record<string, number>>;
  };
}

const monitorSchema = z.strictObject({
  step: z.int(),
  reactions: reactionsSchema,
  components: z.array(z.string()),
  assessor: z.unknown(),
  detectors: z.array(z.unknown()),
});

/** State of a {@link RewardQualityMonitor}, as JSON data. */
export type SavedMonitor = Saved<typeof monitorSchema>;

/**
 * Watches training. Assesses each batch, reports alerts within a rate limit, and requests interventions.
 *
 * It is a `Monitor` of `@rlp/core`: pass it to a training algorithm as `monitor`.
 *
 * @example
 * const monitor = new RewardQualityMonitor({ loggers: [consoleAlerts()] });
 * const metrics = monitor.monitorBatch({ responses, rewards: { format, accuracy }, step });
 */
export class RewardQualityMonitor implements Monitor {
  readonly assessor: RewardQualityAssessor;
  readonly config: ResolvedInterventionConfig;
  /** `'findings'` if one of the loggers shows them on the console. */
  readonly shows: 'findings' | undefined;
  readonly #detectors: readonly (Monitor & Partial<RewardHackingDetector>)[];
  readonly #loggers: readonly MetricsLogger[];
  readonly #failures: Failures;
  readonly #reactions: Reactions;
  /** Step of the last batch, and names of the rewards seen so far. */
  #past = { step: -1, components: [] as string[] };

  /** @throws OptionsError for parts that are unfit or not known, and for a config out of range. */
  constructor(parts: RewardQualityMonitorParts = {}) {
    const given = parseOptions('RewardQualityMonitor', partsSchema, parts, 'RewardQualityMonitorParts');
    this.assessor = given.assessor ?? new RewardQualityAssessor();
    this.config = given.config;
    this.shows = given.loggers.some(({ shows }) => shows !== undefined) ? 'findings' : undefined;
    this.#detectors = given.detectors;
    this.#loggers = given.loggers;
    this.#failures = new Failures((message) => given.onFailure(`quality monitor: ${message}`));
    this.#reactions = new Reactions(this.config, this.assessor.options.conventions);
  }

  /** Step of the last batch. −1 before the first. */
  get step(): number {
    return this.#past.step;
  }

  /**
   * Assesses a batch, passes it to the detectors, and logs and counts the findings.
   *
   * Detectors compare responses by `rewards.total`, or else by the sum of all components. Findings name responses by their index.
   * Requested interventions are logged as notes. A reward that does not have one finite value per response counts as missing:
   * `onFailure` is called once, and the summary counts the failures.
   *
   * @throws ArgumentError if the step is not a whole number above the last. Nothing is remembered then.
   */
  monitorBatch({ step = this.#past.step + 1, extraMetrics, ...given }: MonitoredBatch): RewardQualityMetrics {
    this.#requireGrown(step);
    const batch = this.#checked(given);
    const extra = Object.entries(extraMetrics ?? {}).filter(([name, value]) => {
      if (!Number.isFinite(value)) this.#failures.report(`metric ${name}`, 'it is not a finite number');
      return Number.isFinite(value);
    });
    const observed = { iteration: step, trajectories: trajectoriesOf(batch) };
    return this.#monitor(batch, observed, Object.fromEntries(extra)).metrics;
  }

  /** Observes a batch of a training loop, with each reward component and the reward itself as `total`. */
  observe(observed: MonitorBatch): MonitorReport {
    this.#requireGrown(observed.iteration);
    const { trajectories } = observed;
    const responses = trajectories.map(({ trajectory }) => trajectory.response);
    const batch = this.#checked({ responses, rewards: rewardsOf(trajectories) });
    const { logged, findings, interventions } = this.#monitor(batch, observed);
    const rank = ({ severity }: Finding) => severities.indexOf(severity);
    return { metrics: logged, findings: findings.sort((a, b) => rank(b) - rank(a)), interventions };
  }

  /** Forgets the assessor's windows and what detectors saw recently. Counts and cooldowns stay. */
  rolledBack(): void {
    this.assessor.clearHistory();
    for (const [at, detector] of this.#detectors.entries()) {
      this.#failures.attempt(`detector ${at}`, () => detector.rolledBack?.());
    }
  }

  /**
   * Accepts a change that somebody looked at and found honest: a finding of `rewardHackingDetector`, or the name of its trait.
   *
   * @throws ArgumentError if no detector knows it.
   */
  acknowledge(what: Finding | string): void {
    const knowing = this.#detectors.filter(({ acknowledge }) => acknowledge !== undefined);
    if (knowing.length === 0)
      throw new ArgumentError('acknowledge: expected a monitor with a rewardHackingDetector, got none');
    for (const detector of knowing) detector.acknowledge?.(what);
  }

  getMonitoringSummary(): MonitoringSummary {
    const reactions = this.#reactions.summary(this.#past.step, this.#failures.counts);
    return { ...this.assessor.getSummaryStatistics(), ...reactions };
  }

  saveState(): SavedMonitor {
    return saved(monitorSchema, {
      ...this.#past,
      reactions: this.#reactions.state,
      assessor: this.assessor.saveState(),
      detectors: this.#detectors.map((detector) => detector.saveState()),
    });
  }

  /** Continues from {@link RewardQualityMonitor.saveState} of a monitor with the same parts. */
  loadState(state: unknown): void {
    const given = restored('RewardQualityMonitor', monitorSchema, state);
    if (given.detectors.length !== this.#detectors.length) {
      throw new FormatError(
        `RewardQualityMonitor: expected the state of a monitor with ${this.#detectors.length} detectors, got ${given.detectors.length}; make it with the same \`rewardHacking\` or \`detectors\` as the one that was saved, or begin with a new monitor`,
      );
    }
    const { reactions, assessor, detectors, ...past } = given;
    this.assessor.loadState(assessor);
    for (const [at, detector] of this.#detectors.entries()) detector.loadState(detectors[at]);
    this.#reactions.state = reactions;
    this.#past = past;
  }

  /** Resolves once all loggers are closed or the signal fires. What is unfinished then counts as failed. */
  async close({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    await this.#failures.settled(signal);
    this.#log((logger) => logger.close());
    for (const name of await this.#failures.settled(signal)) {
      this.#failures.report(name, 'it was not done when the monitor closed');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns the metrics, also flat and under their namespace. */
  #monitor(batch: MonitoredBatch, observed: MonitorBatch, extraMetrics: Metrics = {}) {
    const { iteration: step, trajectories } = observed;
    const ids = trajectories.map(({ trajectory }) => trajectory.id);
    const tasks = trajectories.map(({ trajectory }) => trajectory.task.id);
    const assessed = this.assessor.assessBatch({ ...batch, ids, iteration: step, tasks });
    for (const fault of assessed.faults) this.#failures.report('coherence', fault);
    this.#past.step = step;
    const detected = this.#detect(observed);
    const findings = [...assessed.findings, ...detected.findings];
    const { reported, held, interventions } = this.#reactions.react(findings, step, detected.interventions);
    const { suspectedRewardHacking: _, rewardBehaviourChanged: __, ...measured } = assessed.metrics;
    const logged = namespaced({
      ...flatMetrics(measured),
      ...detected.metrics,
      ...alertMetrics(reported, held),
      ...extraMetrics,
    });
    this.#log((logger) => logger.log(step, logged));
    for (const finding of reported) {
      this.#failures.attempt('customAlertCallback', () => this.config.customAlertCallback?.(finding, step));
      this.#log((logger) => logger.finding?.(step, finding));
    }
    for (const one of interventions) this.#log((logger) => logger.note?.(step, interventionNote(one)));
    const { suspected_reward_hacking: suspectedRewardHacking = 0 } = detected.metrics;
    const { reward_behaviour_changed: rewardBehaviourChanged = 0 } = detected.metrics;
    const metrics = { ...measured, suspectedRewardHacking, rewardBehaviourChanged };
    return { metrics, logged, findings, interventions };
  }

  #log(call: (logger: MetricsLogger) => unknown): void {
    for (const [at, logger] of this.#loggers.entries()) {
      this.#failures.attempt(`logger ${at}`, () => call(logger));
    }
  }

  #requireGrown(step: number): void {
    if (Number.isSafeInteger(step) && step > this.#past.step) return;
    throw new ArgumentError(
      `RewardQualityMonitor: steps must be whole numbers that grow, got ${step} after ${this.#past.step}. Use one monitor per run`,
    );
  }

  /** The valid parts of a batch. Removed parts are counted. */
  #checked(given: MonitoredBatch): MonitoredBatch {
    const { components } = this.#past;
    const batch = checkedBatch(given, components, (part, problem) => this.#failures.report(part, problem));
    this.#past.components = [...new Set([...components, ...Object.keys(batch.rewards)])];
    return batch;
  }

  /** Merges the detectors' reports. */
  #detect(observed: MonitorBatch): MonitorReport {
    const reports = this.#detectors.flatMap(
      (detector, at) => this.#failures.attempt(`detector ${at}`, () => detector.observe(observed)) ?? [],
    );
    const findings = reports.flatMap((report) => report.findings);
    return {
      metrics: Object.assign({}, ...reports.map(({ metrics }) => metrics)) as Metrics,
      findings: findings.map((finding) => withSamples(finding, observed, this.assessor.samples)),
      interventions: reports.flatMap(({ interventions = [] }) => interventions),
    };
  }
}
