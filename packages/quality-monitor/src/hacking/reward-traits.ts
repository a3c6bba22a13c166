import type { ScoredTrajectory } from '@rlp/core';
import { finiteRewards, pooledResponses } from './batch-facts.ts';
import type { ResolvedRewardHackingOptions } from './options.ts';
import { addTo, deviationOf, type Moments } from './running-moments.ts';
import { rowLength, traitIndex, unknown } from './signals.ts';
import type { DetectorState } from './state.ts';

type State = DetectorState['rewards'];

/** Least rewarded responses to know the usual pay. */
const leastKnown = 24;
/** Most components. */
const mostComponents = 32;

/** Extracts the traits of a response's rewards. */
export class RewardTraits {
  readonly #options: ResolvedRewardHackingOptions;
  /**
   * `lately`: rewards of recent responses. `reward`: of rewarded ones. `components`: of rewarded and of all responses. `scores`:
   * held-out component and verifier, of rewarded and of unrewarded responses.
   */
  readonly #state: State;
  /** Dominant components of the last batch, with the number of responses. */
  readonly dominant = new Map<string, number>();

  constructor(options: ResolvedRewardHackingOptions, state: State) {
    this.#options = options;
    this.#state = state;
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
      const isPayKnown = this.#state.reward.weight >= leastKnown;
      rows[row + traitIndex.dominance] = isPayKnown ? Number(dominant !== undefined) : unknown;
      if (dominant !== undefined && weights[at]! > 0) {
        this.dominant.set(dominant, (this.dominant.get(dominant) ?? 0) + 1);
      }
      const gain = standardized(reward, this.#state.reward, this.#state.reward);
      const template = rows[row + traitIndex.template]!;
      const isCommon = gain > 2 && template >= commonTemplate;
      rows[row + traitIndex.gain_without_diversity] =
        template === unknown || commonTemplate === unknown || !isPayKnown ? unknown : Number(isCommon);
    }
  }

  /** Learns from a batch that is not suspect. */
  learn(trajectories: readonly ScoredTrajectory[], weights: Float32Array): void {
    const { memoryResponses: memory, heldOut, verifier } = this.#options;
    const { lately, reward: ofReward, components, scores } = this.#state;
    addTo(lately, finiteRewards(trajectories), pooledResponses);
    addTo(
      ofReward,
      trajectories.flatMap(({ reward }, at) => (reward !== null && weights[at]! > 0 ? [reward] : [])),
      memory,
    );
    for (const name of new Set(trajectories.flatMap((one) => Object.keys(one.components)))) {
      const values = trajectories.map((one) => one.components[name] ?? Number.NaN);
      const isScore = name === heldOut || name === verifier;
      if (!isScore && !components.has(name) && components.size >= mostComponents) continue;
      const [ofRewarded, others] = momentsOf(name, isScore ? scores : components);
      addTo(
        ofRewarded,
        values.filter((_, at) => weights[at]! > 0),
        memory,
      );
      addTo(others, isScore ? values.filter((_, at) => weights[at]! < 0) : values, memory);
    }
  }

  /** Whether a score is nearer to the mean of unrewarded responses than to that of rewarded ones. */
  #isLow(components: ScoredTrajectory['components'], name: string | undefined): number {
    if (name === undefined) return unknown;
    const score = components[name];
    const [ofRewarded, ofOthers] = momentsOf(name, this.#state.scores);
    if (score === undefined || score === null) return unknown;
    if (ofRewarded.weight < leastKnown || ofOthers.weight < leastKnown) return unknown;
    return score < (ofRewarded.mean + ofOthers.mean) / 2 ? 1 : 0;
  }

  /** The component that pays far more than usual while the others pay less. */
  #dominant(components: ScoredTrajectory['components']): string | undefined {
    let [best, name, sum, count] = [Number.NEGATIVE_INFINITY, '', 0, 0];
    for (const [component, [ofRewarded, ofAll]] of this.#state.components) {
      const score = standardized(components[component], ofRewarded, ofAll);
      if (Number.isNaN(score)) continue;
      sum += score;
      count += 1;
      if (score > best) [best, name] = [score, component];
    }
    return count >= 2 && best > 3 && (sum - best) / (count - 1) < -0.5 ? name : undefined;
  }
}

function momentsOf(name: string, among: State['scores']): [Moments, Moments] {
  const none = () => ({ weight: 0, mean: 0, square: 0 });
  const found = among.get(name) ?? [none(), none()];
  among.set(name, found);
  return found;
}

/** Standard deviations above the mean. NaN if the value is missing, 0 if the mean is unknown. */
function standardized(value: number | null | undefined, usual: Moments, spread: Moments): number {
  if (value === null || value === undefined || !Number.isFinite(value)) return Number.NaN;
  const deviation = deviationOf(spread);
  return usual.weight === 0 || deviation < 1e-9 ? 0 : (value - usual.mean) / deviation;
}
