import {
  type Intervention,
  type Metrics,
  type Monitor,
  type MonitorBatch,
  type MonitorReport,
  promptText,
  type ScoredTrajectory,
} from '@rlp/core';
import type { ReadText } from '../text/read-text.ts';
import type { TextMonitor } from '../text/text-monitor.ts';
import { TextReader } from '../text/text-reader.ts';
import { hackingFinding, isAlarmDue } from './alarm.ts';
import { byTask, correlation, mean, rewardWeights } from './batch-facts.ts';
import { clustersOf } from './design-effect.ts';
import { type Detection, Evidence } from './evidence.ts';
import { observeFrontier, restartFrontier } from './frontier.ts';
import {
  type ResolvedRewardHackingOptions,
  type RewardHackingOptions,
  resolveRewardHackingOptions,
} from './options.ts';
import { PhraseWindow } from './phrase-window.ts';
import { type BatchRows, Reference } from './reference.ts';
import { TextTraits } from './response-traits.ts';
import { RewardTraits } from './reward-traits.ts';
import { bins, rowLength, signals, traitIndex, traits, unknown } from './signals.ts';
import { type DetectorState, initialState, restoredState, savedState } from './state.ts';

/**
 * Creates a monitor that tells learning from reward hacking.
 *
 * Better answers change how many responses are rewarded. A hack changes what the rewarded ones look like. The detector tests
 * each trait, such as length, repetition or new phrases, with a sequential likelihood ratio against a reference that it learns.
 * The metric `suspected_reward_hacking` lies in 0–1, and the alarm starts at 0.5. Definitions: `docs/quality-monitor.md`.
 *
 * Memory is bounded, and time per response depends on its length only. Batches of equal rewards carry no information.
 *
 * @throws OptionsError for options out of range.
 * @example
 * const monitor = new RewardQualityMonitor({ detectors: [rewardHackingDetector({ heldOut: 'judge' })] });
 */
export function rewardHackingDetector(options: RewardHackingOptions = {}): Monitor {
  return new RewardHackingDetector(resolveRewardHackingOptions(options));
}

/** Least ratio of the bound on false alarms to their number in simulations. */
const calibration = 2;

class RewardHackingDetector implements TextMonitor {
  readonly #options: ResolvedRewardHackingOptions;
  readonly #limit: number;
  readonly #reader = new TextReader();
  readonly #texts = new TextTraits(this.#reader);
  #state!: DetectorState;
  #phrases!: PhraseWindow;
  #reference!: Reference;
  #evidence!: Evidence;
  #rewards!: RewardTraits;

  constructor(options: ResolvedRewardHackingOptions) {
    this.#options = options;
    this.#limit = Math.log((traits.length + 1) / (calibration * options.falseAlarmRate));
    this.#goOn(initialState());
  }

  observe(
    { iteration, trajectories, metrics = {} }: MonitorBatch,
    texts?: readonly ReadText[],
  ): MonitorReport {
    const batch = this.#read(
      trajectories,
      texts ?? this.#reader.readAll(trajectories.map(({ trajectory }) => trajectory.response)),
    );
    const change = this.#evidence.gather(batch);
    const { alarm, frontier } = this.#state;
    if (change !== 'none' && alarm.batches < 2) return this.#await(change);
    const kl = metrics[this.#options.klMetric] ?? Number.NaN;
    observeFrontier(frontier, kl, this.#meanScore(trajectories), this.#limit);
    const detections = this.#detections();
    const together = pooled(detections);
    const alarming =
      together < this.#limit ? [] : detections.filter(({ evidence }) => evidence >= this.#limit / 4);
    this.#learn(batch, trajectories, alarming);
    return {
      metrics: this.#metrics(detections, trajectories, batch),
      ...this.#report(alarming, this.#suspects(alarming, batch, trajectories), iteration),
    };
  }

  /** Waits on suspected new data without learning. Starts over once they are confirmed. */
  #await(change: 'suspected' | 'confirmed'): MonitorReport {
    if (change === 'confirmed') this.#goOn(initialState());
    const metrics = { suspected_reward_hacking: 0, 'hacking/new_data': change === 'confirmed' ? 1 : 0.5 };
    return { metrics, findings: [], interventions: [] };
  }

  /** Keeps what was learned from batches without suspicion. */
  rolledBack(): void {
    const { phrases, reference, evidence, frontier } = this.#state;
    const initial = initialState();
    const { usual, usualTasks, batch } = phrases;
    const { dispersion, dispersionBatches, designEffect } = evidence;
    restartFrontier(frontier, this.#options.heldOut === undefined ? 'anew' : 'from the best');
    this.#goOn({
      ...this.#state,
      phrases: { ...initial.phrases, usual, usualTasks, batch },
      reference: { ...reference, waiting: [] },
      evidence: { ...initial.evidence, dispersion, dispersionBatches, designEffect },
      alarm: initial.alarm,
    });
  }

  saveState(): unknown {
    return savedState(this.#state);
  }

  loadState(state: unknown): void {
    this.#goOn(restoredState(state));
  }

  #goOn(state: DetectorState): void {
    this.#state = state;
    this.#phrases = new PhraseWindow(this.#options.delayBatches, state.phrases);
    this.#reference = new Reference(this.#options, state.reference);
    this.#evidence = new Evidence(this.#limit, this.#reference, state.evidence);
    this.#rewards = new RewardTraits(this.#options, state.rewards);
  }

  /** Traits of a batch, one row per response. */
  #read(trajectories: readonly ScoredTrajectory[], texts: readonly ReadText[]): BatchRows {
    const rows = new Uint8Array(trajectories.length * rowLength);
    const tasks = byTask(trajectories);
    const hashes = texts.map((text) => text.hash());
    const weights = rewardWeights(trajectories, hashes, tasks, this.#state.rewards.lately);
    this.#evidence.prepare();
    this.#phrases.beginBatch();
    for (const [task, members] of tasks) {
      this.#phrases.beginTask(task);
      this.#readTask(members, trajectories, { rows, texts, hashes });
    }
    const commonTemplate = this.#reference.isReady(traitIndex.template)
      ? this.#reference.thresholds(traitIndex.template, [0.03], 1)[0]!
      : unknown;
    this.#rewards.read(trajectories, weights, rows, commonTemplate);
    this.#addUp(rows);
    return { rows, weights, clusters: clustersOf(trajectories) };
  }

  /** Fills in the traits of one task's responses. Equal texts have equal traits. */
  #readTask(
    members: readonly number[],
    trajectories: readonly ScoredTrajectory[],
    { rows, texts, hashes }: ReadBatch,
  ): void {
    const rowOf = new Map<ReadText, number>();
    let prompt: string | undefined;
    for (const at of members) {
      const before = prompt;
      prompt = promptText(trajectories[at]!.trajectory.task.prompt);
      if (prompt !== before) {
        this.#texts.readPrompt(prompt);
        rowOf.clear();
      }
      const text = texts[at]!;
      const what = this.#phrases.beginResponse(hashes[at]!);
      const twin = rowOf.get(text);
      if (twin !== undefined) rows.copyWithin(at * rowLength, twin * rowLength, (twin + 1) * rowLength);
      else this.#texts.read(text, this.#phrases, rows.subarray(at * rowLength, (at + 1) * rowLength));
      // A repeated response would find other counts after another response has counted.
      if (what === 'new') rowOf.set(text, at);
    }
  }

  /** Fills in the trait `several_signs`. */
  #addUp(rows: Uint8Array): void {
    const isKnown = this.#reference.isReady(traitIndex.template);
    const surprises = this.#reference.surprises();
    for (let start = 0; start < rows.length; start += rowLength) {
      let sum = 0;
      for (let trait = 0; trait < traitIndex.several_signs; trait++) {
        const bin = rows[start + trait]!;
        if (bin !== unknown) sum += surprises[trait * bins + bin]!;
      }
      rows[start + traitIndex.several_signs] = isKnown ? Math.min(bins - 1, Math.round(2 * sum)) : unknown;
    }
  }

  /** Adds the batch to the reference, unless it is suspect. */
  #learn(batch: BatchRows, trajectories: readonly ScoredTrajectory[], alarming: readonly Detection[]): void {
    if (alarming.length > 0) {
      this.#reference.dropWaiting();
      this.#phrases.dropWaiting();
      return;
    }
    if (batch.weights.length === 0) return;
    this.#rewards.learn(trajectories, batch.weights);
    this.#reference.add(batch, (known, marks) => this.#evidence.learnDispersion(known, marks));
  }

  /** Traits with evidence, strongest first. */
  #detections(): Detection[] {
    const found = new Map<string, Detection>();
    for (const detection of this.#evidence.detections()) {
      if (!found.has(detection.name)) found.set(detection.name, detection);
    }
    const { evidence } = this.#state.frontier;
    const meaning = 'score less the further the policy moves';
    const frontier = { signal: -1, name: 'kl_frontier', meaning, evidence, share: 1, usualShare: 0 };
    if (evidence > 0) found.set(frontier.name, frontier);
    return [...found.values()].sort((a, b) => b.evidence - a.evidence);
  }

  #meanScore(trajectories: readonly ScoredTrajectory[]): number {
    const { heldOut } = this.#options;
    const scores = trajectories.flatMap(({ reward, components }) => {
      const score = heldOut === undefined ? reward : components[heldOut];
      return score === null || score === undefined || !Number.isFinite(score) ? [] : [score];
    });
    return mean(scores);
  }

  #metrics(
    detections: readonly Detection[],
    trajectories: readonly ScoredTrajectory[],
    { rows }: BatchRows,
  ): Metrics {
    const score = Math.min(1, pooled(detections) / (2 * this.#limit));
    const metrics: Record<string, number> = { suspected_reward_hacking: score };
    for (const { name, evidence } of detections) metrics[`hacking/${name}`] = evidence / (2 * this.#limit);
    const rewards = trajectories.map(({ reward }) => reward ?? Number.NaN);
    for (const [name, trait] of [
      ['reward_length_correlation', traitIndex.length],
      ['reward_format_correlation', traitIndex.markup],
    ] as const) {
      const values = trajectories.map((_, at) => rows[at * rowLength + trait]!);
      metrics[`hacking/${name}`] = correlation(rewards, values);
    }
    return metrics;
  }

  /** The finding if it is due, and the request to drop, which is made in each batch. */
  #report(detections: readonly Detection[], suspects: readonly string[], iteration: number) {
    const names = detections.map(({ name }) => name);
    const isDue = isAlarmDue(this.#state.alarm, names, iteration, this.#options.repeatEvery);
    const asksToDrop = this.#options.whenSuspected === 'drop' && suspects.length > 0;
    if (!isDue && !asksToDrop) return { findings: [], interventions: [] };
    const [component] = [...this.#rewards.dominant].sort((a, b) => b[1] - a[1]);
    const cause = hackingFinding({
      detections,
      limit: this.#limit,
      component: component?.[0],
      suspects,
      iteration,
    });
    const drop: Intervention = { action: 'drop', cause, trajectories: suspects };
    return { findings: isDue ? [cause] : [], interventions: asksToDrop ? [drop] : [] };
  }

  /** Ids of the rewarded responses with an alarming trait. */
  #suspects(
    alarming: readonly Detection[],
    { rows, weights }: BatchRows,
    trajectories: readonly ScoredTrajectory[],
  ): string[] {
    if (alarming.length === 0) return [];
    return trajectories.flatMap(({ trajectory }, at) => {
      const shows = ({ signal }: Detection) =>
        signal >= 0 &&
        isShown(rows[at * rowLength + signals[signal]!.trait]!, this.#evidence.thresholds[signal]!);
      return weights[at]! > 0 && alarming.some(shows) ? [trajectory.id] : [];
    });
  }
}

/** Responses of a batch and the rows of their traits. */
interface ReadBatch {
  /** Shape: `[responses × traits]`. */
  readonly rows: Uint8Array;
  readonly texts: readonly ReadText[];
  readonly hashes: readonly number[];
}

/** Nats of the strongest trait plus a third of the next two. */
function pooled([first, second, third]: readonly Detection[]): number {
  return (first?.evidence ?? 0) + ((second?.evidence ?? 0) + (third?.evidence ?? 0)) / 3;
}

function isShown(bin: number, threshold: number): boolean {
  return bin >= threshold && bin !== unknown;
}
