import {
  ArgumentError,
  described,
  type Finding,
  hashText,
  type Intervention,
  type Metrics,
  type Monitor,
  type MonitorBatch,
  type MonitorReport,
  parseOptions,
  promptText,
  type ScoredTrajectory,
} from '@rlp/core';
import { SecondOpinion } from '../opinion/second-opinion.ts';
import { initial, restored, type Saved, saved } from '../state/saved.ts';
import { addRewards, byTask, designEffectOf, rewardWeights } from './batch-facts.ts';
import { type FindingContext, finding, isReportDue } from './findings.ts';
import {
  type ResolvedRewardHackingOptions,
  type RewardHackingOptions,
  rewardHackingOptions,
} from './options.ts';
import { clearNats, makeUsual, RecentPhrases } from './phrases.ts';
import {
  type DetectorState,
  detectorSchema,
  phrasesSchema,
  reportSchema,
  type WaitingBatch,
} from './state.ts';
import { ScaleSuspicions, type Suspicion } from './suspicion.ts';
import { TextMeasures } from './text-measures.ts';
import { countBin, rowLength, type TraitName, traitIndex, traits, unknown } from './traits.ts';

/** A monitor that suspects reward hacking. */
export interface RewardHackingDetector extends Monitor {
  /**
   * Accepts a change that somebody looked at and found honest. What recent responses show becomes the new normal.
   *
   * @param what - A finding of this detector, or the name of a trait, or `second_opinion`.
   * @throws ArgumentError for a name that is not a trait.
   */
  acknowledge(what: Finding | string): void;
}

/**
 * Creates a monitor that tells learning from reward hacking.
 *
 * It asks two questions. First: do rewarded responses differ from earlier ones, in a way that unrewarded ones do not? That is a
 * suspicion, with the metric `reward_behaviour_changed`. Then: are the suspects as good as the other rewarded responses? A second
 * opinion that says no makes it an alarm, with the metric `suspected_reward_hacking`. Both lie in 0–1 and begin at 0.5.
 *
 * Memory is bounded, and time per response depends on its length only. Batches of equal rewards carry no information.
 *
 * @throws OptionsError for options out of range.
 * @example
 * const monitor = new RewardQualityMonitor({ detectors: [rewardHackingDetector({ secondOpinion: 'judge' })] });
 */
export function rewardHackingDetector(options: RewardHackingOptions = {}): RewardHackingDetector {
  return new Detector(parseOptions('rewardHackingDetector', rewardHackingOptions, options));
}

/** Rewarded responses before the slow reference judges. */
const slowWarmUp = 200;
/** Share of the nats of a suspicion from which less of the second opinion is enough. */
const corroborating = 0.2;
/** Nats of a new phrase above which they count. Within two bounds, a suspicion takes so many more than any phrase had in usual batches. */
const [slightNats, leastNats, mostNats, moreNats] = [7, 10, 13, 4];
/** Deviations below its promise from which a rewarded response is a suspect in an alarm of the second opinion alone. */
const conspicuous = 1.5;
/** Least and most probability that a response is hacked, and factor on the usual share of a trait, which is an estimate. */
const [leastPrior, mostPrior, usualMargin] = [0.05, 0.8, 1.5];
/** Most of the metric of an alarm without conviction, and batches of innocence after which a change becomes normal by itself. */
const [mostUnconvicted, acquittedBatches] = [0.49, 5];

class Detector implements RewardHackingDetector {
  readonly #options: ResolvedRewardHackingOptions;
  readonly #opinions: readonly string[];
  /** Nats of a suspicion, and of the second opinion alone, which is one trait of all. */
  readonly #limit: number;
  readonly #opinionLimit: number;
  readonly #measures = new TextMeasures();
  #recent!: RecentPhrases;
  #state!: DetectorState;
  /** The quick one comes first. */
  #scales!: readonly [ScaleSuspicions, ScaleSuspicions];
  #opinion!: SecondOpinion;

  constructor(options: ResolvedRewardHackingOptions) {
    this.#options = options;
    this.#opinions = [options.secondOpinion ?? []].flat();
    this.#limit = Math.log((2 * traits.length + 1) / options.falseAlarmRate);
    this.#opinionLimit = Math.log(2 / options.falseAlarmRate);
    this.#goOn(initial(detectorSchema));
  }

  observe({ iteration, trajectories }: MonitorBatch): MonitorReport {
    const { batch, phrases } = this.#read(trajectories);
    for (const scale of this.#scales) scale.gather(batch);
    const changed = this.#scales.flatMap((scale) => scale.suspicions());
    this.#learn(batch);
    const suspicions = strongest([...changed, ...this.#newPhrases(batch, phrases)]);
    const { asked, suspects, verdict, hasCompared } = this.#judge(trajectories, batch, suspicions);
    addRewards(this.#state.rewards, trajectories);
    if (verdict.says === 'innocent') this.#acquit(asked);
    else this.#state.report.acquitted = 0;
    const kind = verdict.says === 'guilty' ? 'alarm' : 'changed';
    const context = {
      kind,
      suspicious: kind === 'alarm' || pooled(asked) >= this.#limit ? asked : [],
      verdict,
      limit: this.#limit,
      suspects: [...suspects].map((at) => trajectories[at]!.trajectory.id),
      iteration,
    } as const;
    return { metrics: this.#metrics(suspicions, kind, hasCompared), ...this.#report(context) };
  }

  acknowledge(what: Finding | string): void {
    const { rule, evidence }: Partial<Finding> = typeof what === 'string' ? {} : (what ?? {});
    const names = typeof what === 'string' ? [what] : Object.keys(evidence ?? {});
    const known = names.filter((name) => Object.hasOwn(traitIndex, name) || name === 'second_opinion');
    if (known.length === 0) {
      const got = typeof what === 'string' ? what : rule ? `a finding of ${rule}` : described(what);
      const all = [...Object.keys(traitIndex), 'second_opinion'].join(', ');
      throw new ArgumentError(`acknowledge: expected its finding or one of ${all}, got ${got}`);
    }
    this.#accept(known);
  }

  /** Keeps the references, and drops what the discarded policy did. */
  rolledBack(): void {
    this.#goOn({ ...this.#state, waiting: [], report: initial(reportSchema) });
    this.#opinion.forget();
    for (const scale of this.#scales) scale.forget();
  }

  saveState(): Saved<typeof detectorSchema> {
    return saved(detectorSchema, this.#state);
  }

  loadState(state: unknown): void {
    this.#goOn(restored('reward-hacking detector', detectorSchema, state));
  }

  #goOn(state: DetectorState): void {
    const { warmUpResponses: warmUp, memoryResponses, anchorResponses } = this.#options;
    const shared = { limit: this.#limit, intended: new Set(this.#options.intended) };
    const quick = { ...shared, memory: memoryResponses, warmUp };
    const slow = { ...shared, memory: anchorResponses, warmUp: Math.min(slowWarmUp, anchorResponses) };
    this.#state = state;
    this.#scales = [
      new ScaleSuspicions('quick', quick, state.quick),
      new ScaleSuspicions('slow', slow, state.slow),
    ];
    this.#opinion = new SecondOpinion(this.#opinions, { ...shared, limit: this.#opinionLimit }, state);
    this.#recent = new RecentPhrases();
    this.#recent.update(state.waiting);
  }

  /** Traits of a batch, and the phrases of its rewarded tasks. */
  #read(trajectories: readonly ScoredTrajectory[]) {
    const tasks = byTask(trajectories);
    const taskHashes = tasks.map(([name]) => hashText(name).low | 0);
    const size = trajectories.length;
    const rows = new Uint8Array(size * rowLength).fill(unknown);
    const [clusters, hashes] = [new Uint32Array(size), new Int32Array(size)];
    const phrases = new Array<Uint16Array>(size);
    // Sooner, recent tasks are fewer than later.
    const comparesTexts = this.#state.waiting.length >= this.#options.delayBatches;
    const measures = this.#measures;
    measures.beginBatch();
    for (const [number, [, members]] of tasks.entries()) {
      for (const at of members) {
        const { trajectory } = trajectories[at]!;
        const row = rows.subarray(at * rowLength, (at + 1) * rowLength);
        measures.readPrompt(promptText(trajectory.task.prompt));
        phrases[at] = measures.read(trajectory.response, row);
        [clusters[at], hashes[at]] = [number, measures.hash];
        if (!comparesTexts) continue;
        row[traitIndex.sameness] = countBin(this.#recent.tasksWith(measures.hash, taskHashes[number]!));
      }
    }
    const weights = rewardWeights(trajectories, { texts: hashes, clusters }, this.#state.rewards);
    const rewarded = rewardedOf({ weights });
    const texts = Int32Array.from(rewarded.flatMap((at) => [hashes[at]!, taskHashes[clusters[at]!]!]));
    const gathered = this.#recent.gather(tasks, taskHashes, weights, phrases);
    return { batch: { rows, weights, clusters, texts, nats: 0, ...gathered }, phrases };
  }

  /** The suspicion that phrases of the batch are new. Marks the responses with the clearest ones. */
  #newPhrases(batch: WaitingBatch, phrases: readonly Uint16Array[]): Suspicion[] {
    const trait = traitIndex.new_phrases;
    const { intended, warmUpResponses } = this.#options;
    if (intended.includes('new_phrases') || 2 * this.#state.tasks < warmUpResponses) return [];
    const surprises = this.#recent.surprises(batch, phrases, this.#state);
    const [clearest] = surprises;
    batch.nats = Math.max(clearNats, clearest?.nats ?? 0);
    if (clearest === undefined || clearest.nats < slightNats) return [];
    const { nats, share, usualShare } = clearest;
    const slots = new Set(surprises.map(({ slot }) => slot));
    for (const [at, own] of phrases.entries()) {
      batch.rows[at * rowLength + trait] = Number(own.some((slot) => slots.has(slot)));
    }
    const enough = Math.min(mostNats, Math.max(leastNats, (this.#state.usualNats || mostNats) + moreNats));
    const evidence = Math.min(2, (nats - slightNats) / (enough - slightNats)) * this.#limit;
    return [{ ...traits[trait]!, trait, evidence, share, usualShare, threshold: 1 }];
  }

  /** Traits to ask the second opinion about. With one that is named, half of the evidence is enough to ask. */
  #asked(suspicions: readonly Suspicion[]): Suspicion[] {
    const least = this.#opinions.length > 0 ? this.#limit / 2 : this.#limit;
    return pooled(suspicions) < least ? [] : suspicions.filter(({ evidence }) => evidence >= least / 4);
  }

  /**
   * Asks the second opinion. If it alone raises an alarm, the responses that it rates low become suspects.
   *
   * @returns What it says, the suspicions that it was asked about, the responses that show them, and whether anything was compared.
   */
  #judge(trajectories: readonly ScoredTrajectory[], batch: WaitingBatch, suspicions: readonly Suspicion[]) {
    const { weights } = batch;
    const asked = this.#asked(suspicions);
    const suspects = suspectsOf(batch, asked);
    const isNamed = this.#opinions.length > 0;
    const at = isNamed ? rewardedOf(batch) : [...suspects];
    const about = asked.map(({ name }) => name);
    const priors = priorsOf(batch, at, suspicions);
    const judged = { at, weights, priors, designEffect: designEffectOf(batch), suspects, about };
    const distances = this.#opinion.read(trajectories, judged);
    this.#opinion.gather(distances, judged);
    const evidence = pooled(suspicions);
    const isClear = asked.length > 0 && evidence >= this.#limit;
    const isSlight = evidence >= corroborating * this.#limit;
    const verdict = this.#opinion.verdict(isClear ? 'clear' : isSlight ? 'slight' : 'none');
    const isAlarm = isNamed && verdict.says === 'guilty';
    const low = at.filter((_, place) => isAlarm && distances[place]!.below >= conspicuous);
    const hasCompared = this.#scales[0].isArmed || distances.some(({ below }) => !Number.isNaN(below));
    return { asked, suspects: new Set([...suspects, ...low]), verdict, hasCompared };
  }

  /** Adds the batch to what waits, and the oldest that waited to the references. */
  #learn(batch: WaitingBatch): void {
    const { waiting } = this.#state;
    if (!batch.weights.some((weight) => weight !== 0)) return;
    waiting.push(batch);
    while (waiting.length > this.#options.delayBatches) {
      const oldest = waiting.shift()!;
      for (const scale of this.#scales) scale.learn(oldest);
      makeUsual(this.#state, oldest);
      this.#state.usualNats = Math.max(this.#state.usualNats, oldest.nats);
    }
    this.#recent.update(waiting);
  }

  /** Makes a change normal that the second opinion finds innocent for some batches. */
  #acquit(suspicious: readonly Suspicion[]): void {
    const { report } = this.#state;
    report.acquitted += 1;
    if (report.acquitted < acquittedBatches) return;
    report.acquitted = 0;
    this.#accept(suspicious.map(({ name }) => name));
  }

  #accept(names: readonly string[]): void {
    const { waiting, report } = this.#state;
    for (const name of names) {
      const trait = traitIndex[name as TraitName] as number | undefined;
      if (trait === undefined) this.#opinion.accept();
      else for (const scale of this.#scales) scale.accept(trait, waiting);
      delete report.reported[name];
      delete report.since[name];
    }
    if (names.includes('new_phrases')) Object.assign(this.#state, initial(phrasesSchema));
    for (const batch of waiting) makeUsual(this.#state, batch);
    this.#opinion.forgetSuspects();
  }

  #metrics(suspicions: readonly Suspicion[], kind: 'alarm' | 'changed', hasCompared: boolean): Metrics {
    const changed = Math.min(1, pooled(suspicions) / (2 * this.#limit));
    const low = this.#opinion.share / 2;
    const most = Math.max(changed, low);
    if (most === 0 && !hasCompared) return {};
    const metrics: Record<string, number> = {
      suspected_reward_hacking: kind === 'alarm' ? Math.max(0.5, most) : Math.min(most, mostUnconvicted),
      reward_behaviour_changed: changed,
    };
    if (this.#opinions.length > 0) metrics['hacking/second_opinion'] = low;
    for (const { name, evidence } of suspicions) metrics[`hacking/${name}`] = evidence / (2 * this.#limit);
    return metrics;
  }

  /** The finding if it is due, and the request to drop, which is made in each batch of an alarm. */
  #report(context: FindingContext): Pick<MonitorReport, 'findings' | 'interventions'> {
    const { kind, suspects } = context;
    const isDue = isReportDue(this.#state.report, context, this.#options.repeatEvery);
    const asksToDrop = kind === 'alarm' && this.#options.whenSuspected === 'drop' && suspects.length > 0;
    if (!isDue && !asksToDrop) return { findings: [], interventions: [] };
    const cause = finding(context, this.#state.report.since);
    const drop: Intervention = { action: 'drop', cause, trajectories: suspects };
    return { findings: isDue ? [cause] : [], interventions: asksToDrop ? [drop] : [] };
  }
}

/** The strongest suspicion of each trait on either scale, strongest first. */
function strongest(suspicions: readonly Suspicion[]): Suspicion[] {
  const sorted = [...suspicions].sort((a, b) => a.evidence - b.evidence);
  const strongest = new Map(sorted.map((suspicion) => [suspicion.name, suspicion]));
  return [...strongest.values()].sort((a, b) => b.evidence - a.evidence || a.trait - b.trait);
}

/** Rewarded responses with one of the most suspicious traits. */
function suspectsOf(batch: WaitingBatch, suspicious: readonly Suspicion[]): Set<number> {
  const clear = suspicious.filter(({ evidence }) => 2 * evidence >= suspicious[0]!.evidence);
  return new Set(rewardedOf(batch).filter((at) => clear.some((suspicion) => shows(batch, at, suspicion))));
}

function rewardedOf({ weights }: Pick<WaitingBatch, 'weights'>): number[] {
  return [...weights.keys()].filter((at) => weights[at]! > 0);
}

/**
 * Probability that each response is hacked, as far as its text tells. Of the responses with a trait that `r` have now and `u` had before,
 * a share of `1 − u/r` has it for a new reason. The trait with the largest share counts.
 */
function priorsOf(batch: WaitingBatch, at: readonly number[], found: readonly Suspicion[]): Float64Array {
  const telling = found
    .map((suspicion) => ({ suspicion, excess: 1 - (usualMargin * suspicion.usualShare) / suspicion.share }))
    .filter(({ excess }) => excess > leastPrior)
    .sort((a, b) => b.excess - a.excess);
  return Float64Array.from(at, (index) => {
    const strongest = telling.find(({ suspicion }) => shows(batch, index, suspicion));
    return Math.min(mostPrior, strongest?.excess ?? leastPrior);
  });
}

function shows({ rows }: WaitingBatch, at: number, { trait, threshold }: Suspicion): boolean {
  const bin = rows[at * rowLength + trait]!;
  return bin >= threshold && bin !== unknown;
}

/** Evidence of the strongest traits together. */
function pooled([first, second, third]: readonly Suspicion[]): number {
  return (first?.evidence ?? 0) + ((second?.evidence ?? 0) + (third?.evidence ?? 0)) / 3;
}
