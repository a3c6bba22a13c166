import type { ScoredTrajectory } from '@rlp/core';
import { finiteRewards, pooledResponses } from './batch-facts.ts';
import type { ResolvedRewardHackingOptions } from './options.ts';
import { RunningMoments } from './running-moments.ts';
import { rowLength, traitIndex, unknown } from './signals.ts';
import type { DetectorState } from './state.ts';

type RewardTraitsState = DetectorState['rewards'];
type Moments = RewardTraitsState['reward'];

/** Least rewarded responses to know the usual pay. */
const leastKnown = 24;
/** Most components. */
const mostComponents = 32;

/** Extracts the traits of a response's rewards. */
export class RewardTraits {
  readonly #options: ResolvedRewardHackingOptions;
  /** Rewards of recent responses. */
  readonly lately = new RunningMoments();
  /** Rewards of rewarded responses. */
  readonly #reward = new RunningMoments();
  readonly #components = new Map<string, readonly [ofRewarded: RunningMoments, ofAll: RunningMoments]>();
  /** Held-out component and verifier, among rewarded and unrewarded responses. */
  readonly #scores = new Map<string, readonly [RunningMoments, RunningMoments]>();
  /** Dominant components of the last batch, with the number of responses. */
  readonly dominant = new Map<string, number>();

  constructor(options: ResolvedRewardHackingOptions) {
    this.#options = options;
  }

  /** Fills in the traits of a batch. Shape of `rows`: `[responses × traits]`. */
  read(
    trajectories: readonly ScoredTrajectory[],
    weights: Float32Array,
    rows: Uint8Array,
    commonTemplate: number,
  ): void {
    this.dominant.clear();
    for (const [at, { reward, components }] of trajectories.entries()) {
      const row = at * rowLength;
      rows[row + traitIndex.held_out] = this.#isLow(components, this.#options.heldOut);
      rows[row + traitIndex.verifier] = this.#isLow(components, this.#options.verifier);
      const dominant = this.#dominant(components);
      const isPayKnown = this.#reward.weight >= leastKnown;
      rows[row + traitIndex.dominance] = isPayKnown ? Number(dominant !== undefined) : unknown;
      if (dominant !== undefined && weights[at]! > 0) {
        this.dominant.set(dominant, (this.dominant.get(dominant) ?? 0) + 1);
      }
      const gain = standardized(reward, this.#reward, this.#reward);
      const template = rows[row + traitIndex.template]!;
      const isCommon = gain > 2 && template >= commonTemplate;
      rows[row + traitIndex.gain_without_diversity] =
        template === unknown || commonTemplate === unknown || !isPayKnown ? unknown : Number(isCommon);
    }
  }

  /** Learns from a batch that is not suspect. */
  learn(trajectories: readonly ScoredTrajectory[], weights: Float32Array): void {
    const memory = this.#options.memoryResponses;
    this.lately.add(finiteRewards(trajectories), pooledResponses);
    this.#reward.add(
      trajectories.flatMap(({ reward }, at) => (reward !== null && weights[at]! > 0 ? [reward] : [])),
      memory,
    );
    for (const name of componentNames(trajectories)) {
      const values = trajectories.map(({ components }) => components[name] ?? Number.NaN);
      const isScore = name === this.#options.heldOut || name === this.#options.verifier;
      if (!isScore && !this.#components.has(name) && this.#components.size >= mostComponents) continue;
      const [ofRewarded, others] = momentsOf(name, isScore ? this.#scores : this.#components);
      ofRewarded.add(
        values.filter((_, at) => weights[at]! > 0),
        memory,
      );
      others.add(isScore ? values.filter((_, at) => weights[at]! < 0) : values, memory);
    }
  }

  saveState(): RewardTraitsState {
    return {
      lately: this.lately.saveState(),
      reward: this.#reward.saveState(),
      components: saved(this.#components),
      scores: saved(this.#scores),
    };
  }

  loadState({ lately, reward, components, scores }: RewardTraitsState): void {
    this.lately.loadState(lately);
    this.#reward.loadState(reward);
    restore(this.#components, components);
    restore(this.#scores, scores);
  }

  /** Whether a score is nearer to the mean of unrewarded responses than to that of rewarded ones. */
  #isLow(components: ScoredTrajectory['components'], name: string | undefined): number {
    if (name === undefined) return unknown;
    const score = components[name];
    const [ofRewarded, ofOthers] = momentsOf(name, this.#scores);
    if (score === undefined || score === null) return unknown;
    if (ofRewarded.weight < leastKnown || ofOthers.weight < leastKnown) return unknown;
    return score < (ofRewarded.mean + ofOthers.mean) / 2 ? 1 : 0;
  }

  /** The component that pays far more than usual while the others pay less. */
  #dominant(components: ScoredTrajectory['components']): string | undefined {
    let [best, name, sum, count] = [Number.NEGATIVE_INFINITY, '', 0, 0];
    for (const [component, [ofRewarded, ofAll]] of this.#components) {
      const score = standardized(components[component], ofRewarded, ofAll);
      if (Number.isNaN(score)) continue;
      sum += score;
      count += 1;
      if (score > best) [best, name] = [score, component];
    }
    return count >= 2 && best > 3 && (sum - best) / (count - 1) < -0.5 ? name : undefined;
  }
}

type NamedMoments = Map<string, readonly [RunningMoments, RunningMoments]>;

function momentsOf(name: string, among: NamedMoments): readonly [RunningMoments, RunningMoments] {
  const found = among.get(name) ?? [new RunningMoments(), new RunningMoments()];
  among.set(name, found);
  return found;
}

function saved(named: NamedMoments): Record<string, readonly [Moments, Moments]> {
  return Object.fromEntries(
    [...named].map(([name, [first, second]]) => [name, [first.saveState(), second.saveState()]]),
  );
}

function restore(named: NamedMoments, state: Readonly<Record<string, readonly [Moments, Moments]>>): void {
  named.clear();
  for (const [name, [first, second]] of Object.entries(state)) {
    const [one, other] = momentsOf(name, named);
    one.loadState(first);
    other.loadState(second);
  }
}

function componentNames(trajectories: readonly ScoredTrajectory[]): Set<string> {
  const names = new Set<string>();
  for (const { components } of trajectories) for (const name of Object.keys(components)) names.add(name);
  return names;
}

/** Standard deviations above the mean. NaN if the value is missing, 0 if the mean is unknown. */
function standardized(
  value: number | null | undefined,
  { mean, weight }: RunningMoments,
  { deviation }: RunningMoments,
): number {
  if (value === null || value === undefined || !Number.isFinite(value)) return Number.NaN;
  return weight === 0 || deviation < 1e-9 ? 0 : (value - mean) / deviation;
}
