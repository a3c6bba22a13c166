import {
  ArgumentError,
  type Finding,
  FormatError,
  type Intervention,
  type Metrics,
  type Monitor,
  type MonitorBatch,
  type MonitorReport,
  type Severity,
} from '@rlp/core';
import { z } from 'zod';
import type { PathologyAlert } from '../assessor/alert.ts';
import { type AssessedBatch, type AssessmentSummary, RewardQualityAssessor } from '../assessor/assessor.ts';
import { flatMetrics, type RewardQualityMetrics } from '../assessor/metrics.ts';
import { interventionFor } from './interventions.ts';
import {
  type InterventionConfig,
  isAtLeast,
  type ResolvedInterventionConfig,
  resolveInterventionConfig,
  severities,
} from './options.ts';
import { RateLimit } from './rate-limit.ts';
import type { AlertRecord, InterventionRecord, MonitorSink } from './sink.ts';
import { Sinks } from './sinks.ts';

/** What a {@link RewardQualityMonitor} is made of. */
export interface RewardQualityMonitorParts {
  /** Default: one with its defaults. */
  readonly assessor?: RewardQualityAssessor | undefined;
  readonly config?: InterventionConfig | undefined;
  /** Where records go. Default: nowhere. */
  readonly sinks?: readonly MonitorSink[] | undefined;
  /** Further monitors that see the same batches, such as `rewardHackingDetector()`; their findings are alerts too. */
  readonly detectors?: readonly Monitor[] | undefined;
  /** Told, once for each, when a sink or callback fails. Default `console.warn`. */
  readonly onFailure?: ((message: string) => void) | undefined;
}

/** A batch as {@link RewardQualityMonitor.monitorBatch} takes it. */
export interface MonitoredBatch extends AssessedBatch {
  /** Only ever grows. Default: one more than the last. */
  readonly step?: number | undefined;
  /** Logged beside the batch's own. */
  readonly extraMetrics?: Metrics | undefined;
}

/** What {@link RewardQualityMonitor.getMonitoringSummary} tells, as JSON data. */
export interface MonitoringSummary extends AssessmentSummary {
  readonly monitoring: {
    readonly totalAlertsBySeverity: Readonly<Record<Severity, number>>;
    readonly totalAlertsByType: Readonly<Record<string, number>>;
    /** Alerting batches per step of the aggregation window. */
    readonly recentAlertRate: number;
    /** Alerts that the rate limit kept from being reported. */
    readonly heldAlerts: number;
    /** Records that sinks and callbacks failed to take, by name. */
    readonly failures: Readonly<Record<string, number>>;
  };
}

const stateSchema = z.strictObject({
  step: z.int(),
  bySeverity: z.record(z.string(), z.int().nonnegative()),
  byType: z.record(z.string(), z.int().nonnegative()),
  held: z.int().nonnegative(),
  rateLimit: z.array(z.strictObject({ step: z.number(), verdict: z.enum(['through', 'held']) })),
  assessor: z.unknown(),
  detectors: z.array(z.unknown()),
});

/**
 * Watches training: assesses each batch, counts and reports alerts within a rate limit, and asks for interventions.
 *
 * It is a `Monitor` of `@rlp/core`, so a training loop has it with one line: `monitor` among its dependencies.
 *
 * @example
 * const monitor = new RewardQualityMonitor({ sinks: [consoleSink()] });
 * const metrics = monitor.monitorBatch({ responses, rewards: { format, accuracy }, step });
 */
export class RewardQualityMonitor implements Monitor {
  readonly assessor: RewardQualityAssessor;
  readonly config: ResolvedInterventionConfig;
  readonly #detectors: readonly Monitor[];
  readonly #sinks: Sinks;
  readonly #rateLimit: RateLimit;
  readonly #bySeverity = new Map<Severity, number>(severities.map((severity) => [severity, 0]));
  readonly #byType = new Map<string, number>();
  #held = 0;
  #step = -1;

  /** @throws OptionsError for a config outside its ranges. */
  constructor({
    assessor,
    config,
    sinks = [],
    detectors = [],
    onFailure = console.warn,
  }: RewardQualityMonitorParts = {}) {
    this.assessor = assessor ?? new RewardQualityAssessor();
    this.config = resolveInterventionConfig(config);
    this.#detectors = detectors;
    this.#sinks = new Sinks(sinks, onFailure);
    this.#rateLimit = new RateLimit({
      windowSteps: this.config.alertAggregationWindow,
      most: this.config.maxAlertsPerWindow,
      conventions: this.assessor.options.conventions,
    });
  }

  /** Of the last batch; −1 before the first. */
  get step(): number {
    return this.#step;
  }

  /**
   * Assesses a batch, counts its alerts and reports them.
   *
   * @throws ArgumentError when a reward has not one value per response, or the step does not grow.
   */
  monitorBatch({ step = this.#step + 1, extraMetrics, ...batch }: MonitoredBatch): RewardQualityMetrics {
    return this.#monitor(batch, { step, extraMetrics, ids: [], trajectories: undefined }).metrics;
  }

  /** A batch of a training loop: what it was rewarded for, by component, and the reward itself as `total`. */
  observe({ iteration, trajectories, metrics: known }: MonitorBatch): MonitorReport {
    const names = new Set(trajectories.flatMap(({ components }) => Object.keys(components)));
    const rewards: Record<string, (number | null)[]> = {};
    for (const name of names) rewards[name] = trajectories.map(({ components }) => components[name] ?? null);
    rewards.total = trajectories.map(({ reward }) => reward);
    const batch = { responses: trajectories.map(({ trajectory }) => trajectory.response), rewards };
    const ids = trajectories.map(({ trajectory }) => trajectory.id);
    const { metrics, findings, interventions } = this.#monitor(batch, {
      step: iteration,
      ids,
      trajectories,
      known,
    });
    const named = Object.entries(flatMetrics(metrics)).map(([name, value]) => [
      `reward_quality/${name}`,
      value,
    ]);
    return { metrics: Object.fromEntries(named), findings, interventions };
  }

  getMonitoringSummary(): MonitoringSummary {
    return {
      ...this.assessor.getSummaryStatistics(),
      monitoring: {
        totalAlertsBySeverity: Object.fromEntries(this.#bySeverity) as Record<Severity, number>,
        totalAlertsByType: Object.fromEntries(this.#byType),
        recentAlertRate: this.#rateLimit.rate(this.#step),
        heldAlerts: this.#held,
        failures: this.#sinks.failures,
      },
    };
  }

  saveState(): unknown {
    return {
      step: this.#step,
      bySeverity: Object.fromEntries(this.#bySeverity),
      byType: Object.fromEntries(this.#byType),
      held: this.#held,
      rateLimit: this.#rateLimit.saveState(),
      assessor: this.assessor.saveState(),
      detectors: this.#detectors.map((detector) => detector.saveState()),
    };
  }

  /** Continues from {@link RewardQualityMonitor.saveState} of a monitor with the same parts; forgets what was before. */
  loadState(state: unknown): void {
    const parsed = stateSchema.safeParse(state);
    if (!parsed.success || parsed.data.detectors.length !== this.#detectors.length) {
      const problem = parsed.success ? 'it has another number of detectors' : z.prettifyError(parsed.error);
      throw new FormatError(
        `expected the state of a RewardQualityMonitor, as saveState gives it: ${problem}`,
      );
    }
    const { step, bySeverity, byType, held, rateLimit, assessor, detectors } = parsed.data;
    this.assessor.loadState(assessor);
    for (const [at, detector] of this.#detectors.entries()) detector.loadState(detectors[at]);
    for (const [severity, count] of Object.entries(bySeverity)) {
      this.#bySeverity.set(severity as Severity, count);
    }
    this.#byType.clear();
    for (const [type, count] of Object.entries(byType)) this.#byType.set(type, count);
    this.#rateLimit.loadState(rateLimit);
    this.#held = held;
    this.#step = step;
  }

  /** Resolves once all sinks have written what they were given. */
  async close(): Promise<void> {
    await this.#sinks.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #monitor(batch: AssessedBatch, context: BatchContext): Judgement {
    const { step, extraMetrics } = context;
    if (!(step > this.#step)) {
      throw new ArgumentError(`monitorBatch: steps must grow, got ${step} after ${this.#step}`);
    }
    const { metrics: assessed, alerts } = this.assessor.assessBatch(batch);
    this.#step = step;
    const detected = this.#detect(context);
    const records = [
      ...alerts.map((alert) => recordOfAlert(alert, step, batch.responses)),
      ...detected.findings.map((finding) => recordOfFinding(finding, this.assessor.samples)),
    ];
    const reported = this.#report(records, step);
    const metrics = { ...assessed, suspectedRewardHacking: detected.metrics.suspected_reward_hacking ?? 0 };
    const interventions = [
      ...this.#interventions(reported, alerts, context),
      ...(this.config.enableInterventions ? (detected.interventions ?? []) : []),
    ];
    for (const alert of alerts) this.#callBack(alert, reported, step);
    this.#sinks.write({
      step,
      metrics: { ...flatMetrics(metrics), ...detected.metrics, ...extraMetrics },
      alerts: reported,
      interventions: interventions.map((intervention) => recordOfIntervention(intervention, step)),
    });
    return { metrics, findings: records.map(findingOf), interventions };
  }

  /** All detectors' reports as one. A batch without trajectories tells them nothing. */
  #detect({ step, trajectories, known }: BatchContext): MonitorReport {
    if (trajectories === undefined) return { metrics: {}, findings: [] };
    const reports = this.#detectors.map((detector) =>
      detector.observe({ iteration: step, trajectories, metrics: known }),
    );
    return {
      metrics: Object.assign({}, ...reports.map(({ metrics }) => metrics)) as Metrics,
      findings: reports.flatMap(({ findings }) => findings),
      interventions: reports.flatMap(({ interventions = [] }) => interventions),
    };
  }

  #count({ severity, pathologyType }: AlertRecord): void {
    this.#bySeverity.set(severity, (this.#bySeverity.get(severity) ?? 0) + 1);
    this.#byType.set(pathologyType, (this.#byType.get(pathologyType) ?? 0) + 1);
  }

  /** Counts the records; gives those that are severe enough, unless the rate limit holds them all. */
  #report(records: readonly AlertRecord[], step: number): readonly AlertRecord[] {
    const { enableInterventions, interventionSeverity } = this.config;
    if (records.length === 0) return [];
    const severe = records.filter(({ severity }) => isAtLeast(severity, interventionSeverity));
    const verdict = this.#rateLimit.admit(step, severe.length > 0 ? 'alerts to report' : 'nothing to report');
    // The original forgets to count what it holds.
    if (verdict === 'held' && this.assessor.options.conventions === 'tunrex') return [];
    for (const record of records) this.#count(record);
    if (!enableInterventions) return [];
    if (verdict === 'through') return severe;
    this.#held += severe.length;
    return [];
  }

  #interventions(
    reported: readonly AlertRecord[],
    alerts: readonly PathologyAlert[],
    { ids }: BatchContext,
  ): Intervention[] {
    return reported.flatMap((record) => {
      const actions = this.config.actions[record.pathologyType];
      if (actions === undefined) return [];
      const alert = alerts.find(({ message }) => message === record.message);
      const about = (alert?.responses ?? []).flatMap((index) => ids[index] ?? []);
      const subject = { trajectories: about, component: record.rewardName };
      return [actions].flat().flatMap((action) => interventionFor(action, findingOf(record), subject) ?? []);
    });
  }

  #callBack(alert: PathologyAlert, reported: readonly AlertRecord[], step: number): void {
    const { customAlertCallback } = this.config;
    if (customAlertCallback === undefined) return;
    if (!reported.some(({ message }) => message === alert.message)) return;
    this.#sinks.attempt('customAlertCallback', () => customAlertCallback(alert, step));
  }
}

interface BatchContext {
  readonly step: number;
  readonly extraMetrics?: Metrics | undefined;
  /** Of the batch's trajectories, where it has any. */
  readonly ids: readonly string[];
  readonly trajectories: MonitorBatch['trajectories'] | undefined;
  /** What the loop knows of the batch besides. */
  readonly known?: Metrics | undefined;
}

interface Judgement {
  readonly metrics: RewardQualityMetrics;
  readonly findings: readonly Finding[];
  readonly interventions: readonly Intervention[];
}

const samplesKept = 3;

function recordOfAlert(
  { timestamp, severity, pathologyType, message, metrics, rewardName, responses = [] }: PathologyAlert,
  step: number,
  texts: readonly string[],
): AlertRecord {
  const samples = responses.slice(0, samplesKept).map((index) => texts[index]!);
  return { step, timestamp, severity, pathologyType, message, metrics, rewardName, samples };
}

function recordOfFinding(
  { rule, severity, message, evidence, iteration }: Finding,
  timestamp: number,
): AlertRecord {
  return { step: iteration, timestamp, severity, pathologyType: rule, message, metrics: evidence };
}

function findingOf({ pathologyType, severity, message, metrics, step }: AlertRecord): Finding {
  return { rule: pathologyType, severity, message, evidence: metrics, iteration: step };
}

function recordOfIntervention({ action, cause, ...details }: Intervention, step: number): InterventionRecord {
  return { step, action, cause: cause.message, details };
}
