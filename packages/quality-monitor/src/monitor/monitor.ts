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
import * as z from 'zod';
import { type AssessedBatch, type AssessmentSummary, RewardQualityAssessor } from '../assessor/assessor.ts';
import { flatMetrics, type RewardQualityMetrics } from '../assessor/metrics.ts';
import type { ReadText } from '../text/read-text.ts';
import type { TextMonitor } from '../text/text-monitor.ts';
import { TextReader } from '../text/text-reader.ts';
import { AlertGate, alertGateStateSchema } from './alert-gate.ts';
import { type LooseBatch, trajectoriesOf } from './batch-trajectories.ts';
import { type Found, foundByAssessor, foundByDetector, recordOfIntervention } from './found.ts';
import { Interventions } from './interventions.ts';
import {
  type InterventionConfig,
  isAtLeast,
  type ResolvedInterventionConfig,
  resolveInterventionConfig,
  severities,
} from './options.ts';
import type { AlertRecord, MonitorSink } from './sink.ts';
import { Sinks } from './sinks.ts';
import { soundBatch } from './sound-batch.ts';

/** What a {@link RewardQualityMonitor} is made of. */
export interface RewardQualityMonitorParts {
  /** Default: one with its defaults. */
  readonly assessor?: RewardQualityAssessor | undefined;
  readonly config?: InterventionConfig | undefined;
  /** Where records go. Default: nowhere. */
  readonly sinks?: readonly MonitorSink[] | undefined;
  /**
   * Further monitors that see the same batches, such as `rewardHackingDetector()`; their findings are alerts too. None unless
   * given: `createDefaultMonitor` gives that one.
   */
  readonly detectors?: readonly Monitor[] | undefined;
  /** Told, once for each, when a sink, detector or callback fails or a batch is not sound. Default `console.warn`. */
  readonly onFailure?: ((message: string) => void) | undefined;
}

/** A batch as {@link RewardQualityMonitor.monitorBatch} takes it. */
export interface MonitoredBatch extends LooseBatch {
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
    /** Interventions that were not asked for because the same had been within their cooldown. */
    readonly heldInterventions: number;
    /** Records that sinks and callbacks failed to take, and batches that were not as they should be, by name. */
    readonly failures: Readonly<Record<string, number>>;
  };
}

const stateSchema = z.strictObject({
  step: z.int(),
  alerts: alertGateStateSchema,
  heldInterventions: z.int().nonnegative(),
  asked: z.record(z.string(), z.number()),
  components: z.array(z.string()),
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
  readonly #texts = new TextReader();
  readonly #detectors: readonly TextMonitor[];
  readonly #sinks: Sinks;
  readonly #gate: AlertGate;
  readonly #interventions: Interventions;
  /** Names of the rewards seen so far. */
  readonly #components = new Set<string>();
  #heldInterventions = 0;
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
    this.#gate = new AlertGate(this.config, this.assessor.options.conventions);
    this.#interventions = new Interventions(this.config);
  }

  /** Of the last batch; −1 before the first. */
  get step(): number {
    return this.#step;
  }

  /**
   * Assesses a batch, shows it to the detectors, counts its alerts and reports them.
   *
   * Detectors compare responses by their reward: `rewards.total` where there is one, else the sum of all components. What is asked
   * for names responses by their place in the batch (`'0'`, `'1'`…); sinks are told of it, and nobody carries it out.
   *
   * A reward that has not one finite value per response, or is missing though it was there before, counts as missing for the
   * batch or the response; `onFailure` is told once, and `failures` of the summary counts. The rest is assessed.
   *
   * @throws ArgumentError when the step is no whole number above the last; nothing is remembered then.
   */
  monitorBatch({ step = this.#step + 1, extraMetrics, ...given }: MonitoredBatch): RewardQualityMetrics {
    this.#requireGrown(step);
    const batch = this.#sound(given);
    return this.#monitor(batch, { step, extraMetrics, trajectories: trajectoriesOf(batch) }).metrics;
  }

  /** A batch of a training loop: what it was rewarded for, by component, and the reward itself as `total`. */
  observe({ iteration, trajectories, metrics: known }: MonitorBatch): MonitorReport {
    this.#requireGrown(iteration);
    const names = new Set<string>();
    for (const { components } of trajectories) for (const name of Object.keys(components)) names.add(name);
    const rewards: Record<string, (number | null)[]> = {};
    for (const name of names) rewards[name] = trajectories.map(({ components }) => components[name] ?? null);
    rewards.total = trajectories.map(({ reward }) => reward);
    const batch = this.#sound({
      responses: trajectories.map(({ trajectory }) => trajectory.response),
      rewards,
    });
    const judged = this.#monitor(batch, { step: iteration, trajectories, known });
    const { logged, findings, interventions } = judged;
    const named = Object.entries(logged).map(([name, value]) => [`reward_quality/${name}`, value]);
    return { metrics: Object.fromEntries(named), findings, interventions };
  }

  /**
   * The policy is back at earlier weights: the assessor's windows and what detectors saw of late are forgotten. Counts stay, and so does
   * what rests for its cooldown.
   */
  rolledBack(): void {
    this.assessor.clearHistory();
    for (const [at, detector] of this.#detectors.entries()) {
      this.#sinks.attempt(`detector ${at}`, () => detector.rolledBack?.());
    }
  }

  getMonitoringSummary(): MonitoringSummary {
    return {
      ...this.assessor.getSummaryStatistics(),
      monitoring: {
        ...this.#gate.summary(this.#step),
        heldInterventions: this.#heldInterventions,
        failures: this.#sinks.failures,
      },
    };
  }

  saveState(): unknown {
    return {
      step: this.#step,
      alerts: this.#gate.saveState(),
      heldInterventions: this.#heldInterventions,
      asked: this.#interventions.saveState(),
      components: [...this.#components],
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
    const { step, alerts, heldInterventions, asked, components, assessor, detectors } = parsed.data;
    this.assessor.loadState(assessor);
    for (const [at, detector] of this.#detectors.entries()) detector.loadState(detectors[at]);
    this.#gate.loadState(alerts);
    this.#interventions.loadState(asked);
    this.#components.clear();
    for (const name of components) this.#components.add(name);
    this.#heldInterventions = heldInterventions;
    this.#step = step;
  }

  /** Resolves once all sinks have written what they were given, or the signal fires; what they owe then is counted among `failures`. */
  async close({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    await this.#sinks.close(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #monitor(batch: AssessedBatch, context: BatchContext): Judgement {
    const { step, extraMetrics, trajectories } = context;
    const texts = this.#texts.readAll(batch.responses);
    const { metrics: assessed, alerts, faults } = this.assessor.assessBatch(batch, texts);
    for (const fault of faults) this.#sinks.report('coherence', fault);
    this.#step = step;
    const detected = this.#detect(context, texts);
    const found = [
      ...alerts.map((alert) => foundByAssessor(alert, step, trajectories)),
      ...detected.findings.map((finding) => foundByDetector(finding, this.assessor.samples, trajectories)),
    ];
    const { reported, held } = this.#gate.admit(
      found.map(({ alert }) => alert),
      step,
    );
    const interventions = this.#ask(found, detected, step);
    const metrics = { ...assessed, suspectedRewardHacking: detected.metrics.suspected_reward_hacking ?? 0 };
    const logged = {
      ...flatMetrics(metrics),
      ...detected.metrics,
      alerts_held: held,
      ...extraMetrics,
    };
    this.#callBack(reported, step);
    this.#sinks.write({
      step,
      metrics: logged,
      alerts: reported,
      interventions: interventions.map((intervention) => recordOfIntervention(intervention, step)),
    });
    const findings = found
      .map(({ finding }) => finding)
      .sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));
    return { metrics, logged, findings, interventions };
  }

  #requireGrown(step: number): void {
    if (Number.isSafeInteger(step) && step > this.#step) return;
    throw new ArgumentError(
      `RewardQualityMonitor: steps must be whole numbers that grow, got ${step} after ${this.#step}; a monitor watches one run`,
    );
  }

  /** What can be made of a batch; what cannot is counted. */
  #sound(given: LooseBatch): LooseBatch {
    const { batch, faults } = soundBatch(given, this.#components);
    for (const name of Object.keys(batch.rewards)) this.#components.add(name);
    for (const { name, problem } of faults) this.#sinks.report(name, problem);
    return batch;
  }

  /** All detectors' reports as one. */
  #detect({ step, trajectories, known }: BatchContext, texts: readonly ReadText[]): MonitorReport {
    const reports = this.#detectors.flatMap((detector, at) => {
      const observe = () => detector.observe({ iteration: step, trajectories, metrics: known }, texts);
      return this.#sinks.attempt(`detector ${at}`, observe) ?? [];
    });
    return {
      metrics: Object.assign({}, ...reports.map(({ metrics }) => metrics)) as Metrics,
      findings: reports.flatMap(({ findings }) => findings),
      interventions: reports.flatMap(({ interventions = [] }) => interventions),
    };
  }

  /** What the config's actions and the detectors themselves ask for. */
  #ask(found: readonly Found[], detected: MonitorReport, step: number): readonly Intervention[] {
    const { enableInterventions, interventionSeverity } = this.config;
    if (!enableInterventions) return [];
    const severe = found.filter(({ alert }) => isAtLeast(alert.severity, interventionSeverity));
    const { interventions, resting } = this.#interventions.ask(severe, step);
    this.#heldInterventions += resting;
    return [...interventions, ...(detected.interventions ?? [])];
  }

  #callBack(reported: readonly AlertRecord[], step: number): void {
    const { customAlertCallback } = this.config;
    if (customAlertCallback === undefined) return;
    for (const alert of reported) {
      this.#sinks.attempt('customAlertCallback', () => customAlertCallback(alert, step));
    }
  }
}

interface BatchContext {
  readonly step: number;
  readonly extraMetrics?: Metrics | undefined;
  /** One for each response. */
  readonly trajectories: MonitorBatch['trajectories'];
  /** What the loop knows of the batch besides. */
  readonly known?: Metrics | undefined;
}

interface Judgement {
  readonly metrics: RewardQualityMetrics;
  /** Flat, with those of detectors. */
  readonly logged: Metrics;
  readonly findings: readonly Finding[];
  readonly interventions: readonly Intervention[];
}
