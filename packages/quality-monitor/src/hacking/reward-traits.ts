import type { ScoredTrajectory } from '@rlp/core';
import type { ResolvedRewardHackingOptions } from './options.ts';
import { RunningMoments } from './running-moments.ts';
import { rowLength, traitIndex, unknown } from './signals.ts';

type Moments = readonly [number, number, number];

/** What {@link RewardTraits} remembers, as JSON data. */
export interface RewardTraitsState {
  readonly reward: Moments;
  readonly components: Readonly<Record<string, Moments>>;
  readonly scores: Readonly<Record<string, readonly [rewarded: Moments, others: Moments]>>;
}

/** Components that are told apart at most. */
const mostComponents = 32;

/** Finds the traits that a response's rewards show. */
export class RewardTraits {
  readonly #options: ResolvedRewardHackingOptions;
  readonly #reward = new RunningMoments();
  readonly #components = new Map<string, RunningMoments>();
  /** Of the held-out component and the verifier: among the rewarded and among the others. */
  readonly #scores = new Map<string, readonly [RunningMoments, RunningMoments]>();
  /** Components that responses of the last batch earned their reward by alone, and how many did. */
  readonly dominant = new Map<string, number>();

  constructor(options: ResolvedRewardHackingOptions) {
    this.#options = options;
  }

  /** Fills in the traits of a batch. Shape of `rows`: `[responses × traits]`. */
  read(
    trajectories: readonly ScoredTrajectory[],
    rewarded: Uint8Array,
    rows: Uint8Array,
    commonTemplate: number,
  ): void {
    this.dominant.clear();
    for (const [at, { reward, components }] of trajectories.entries()) {
      const row = at * rowLength;
      rows[row + traitIndex.held_out] = this.#isLow(components, this.#options.heldOut);
      rows[row + traitIndex.verifier] = this.#isLow(components, this.#options.verifier);
      const dominant = this.#dominant(components);
      rows[row + traitIndex.dominance] = dominant === undefined ? 0 : 1;
      if (dominant !== undefined && rewarded[at] === 1) {
        this.dominant.set(dominant, (this.dominant.get(dominant) ?? 0) + 1);
      }
      const gain = standardized(reward, this.#reward);
      const template = rows[row + traitIndex.template]!;
      const isCommon = gain > 1.5 && template >= commonTemplate;
      rows[row + traitIndex.gain_without_diversity] =
        template === unknown || commonTemplate === unknown ? unknown : Number(isCommon);
    }
  }

  /** Remembers a batch that is not under suspicion. */
  learn(trajectories: readonly ScoredTrajectory[], rewarded: Uint8Array): void {
    const memory = this.#options.memoryResponses;
    this.#reward.add(
      trajectories.map(({ reward }) => reward ?? Number.NaN),
      memory,
    );
    for (const name of componentNames(trajectories)) {
      const values = trajectories.map(({ components }) => components[name] ?? Number.NaN);
      if (name === this.#options.heldOut || name === this.#options.verifier) {
        const [ofRewarded, ofOthers] = this.#scoreOf(name);
        ofRewarded.add(
          values.filter((_, at) => rewarded[at] === 1),
          memory,
        );
        ofOthers.add(
          values.filter((_, at) => rewarded[at] === 0),
          memory,
        );
      } else if (this.#components.has(name) || this.#components.size < mostComponents) {
        const moments = this.#components.get(name) ?? new RunningMoments();
        moments.add(values, memory);
        this.#components.set(name, moments);
      }
    }
  }

  saveState(): RewardTraitsState {
    return {
      reward: this.#reward.saveState(),
      components: Object.fromEntries([...this.#components].map(([name, one]) => [name, one.saveState()])),
      scores: Object.fromEntries(
        [...this.#scores].map(([name, [first, second]]) => [name, [first.saveState(), second.saveState()]]),
      ),
    };
  }

  loadState({ reward, components, scores }: RewardTraitsState): void {
    this.#reward.loadState(reward);
    this.#components.clear();
    this.#scores.clear();
    for (const [name, state] of Object.entries(components)) {
      const moments = new RunningMoments();
      moments.loadState(state);
      this.#components.set(name, moments);
    }
    for (const [name, [first, second]] of Object.entries(scores)) {
      const [ofRewarded, ofOthers] = this.#scoreOf(name);
      ofRewarded.loadState(first);
      ofOthers.loadState(second);
    }
  }

  #scoreOf(name: string): readonly [RunningMoments, RunningMoments] {
    const found = this.#scores.get(name) ?? [new RunningMoments(), new RunningMoments()];
    this.#scores.set(name, found);
    return found;
  }

  /** Whether a score lies nearer to those of the responses that are usually not rewarded than to the others'. */
  #isLow(components: ScoredTrajectory['components'], name: string | undefined): 0 | 1 {
    if (name === undefined) return 0;
    const score = components[name];
    const [ofRewarded, ofOthers] = this.#scoreOf(name);
    if (score === undefined || score === null || ofRewarded.isEmpty || ofOthers.isEmpty) return 0;
    return score < (ofRewarded.mean + ofOthers.mean) / 2 ? 1 : 0;
  }

  /** The component that is far above its mean while the others together are below theirs. */
  #dominant(components: ScoredTrajectory['components']): string | undefined {
    let [best, name, sum, count] = [Number.NEGATIVE_INFINITY, '', 0, 0];
    for (const [component, moments] of this.#components) {
      const score = standardized(components[component], moments);
      if (Number.isNaN(score)) continue;
      sum += score;
      count += 1;
      if (score > best) [best, name] = [score, component];
    }
    return count >= 2 && best > 1 && (sum - best) / (count - 1) < -0.25 ? name : undefined;
  }
}

function componentNames(trajectories: readonly ScoredTrajectory[]): Set<string> {
  const names = new Set<string>();
  for (const { components } of trajectories) for (const name of Object.keys(components)) names.add(name);
  return names;
}

/** Deviations above the mean; NaN for what is no number. */
function standardized(value: number | null | undefined, moments: RunningMoments): number {
  if (value === null || value === undefined || !Number.isFinite(value)) return Number.NaN;
  const deviation = moments.deviation;
  if (moments.isEmpty || deviation < 1e-9) return 0;
  return (value - moments.mean) / deviation;
}
