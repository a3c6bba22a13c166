import type { ScoredTrajectory } from '@rlp/core';
import { ComponentWeights } from './component-weights.ts';
import { agreementInGroups } from './group-agreement.ts';
import { addPairs, lineOf, newPairSums, standardErrorsAbove } from './line-fit.ts';
import type { OpinionState } from './state.ts';

type State = OpinionState['opinion'];

/** Pairs of promise and score that a fit remembers, and least before it is used. */
const [memory, leastPairs] = [4000, 32];
/** Early values that tell whether a component varies, and the share of one value at which it does not. */
const [earlyValues, unvaryingShare] = [256, 0.9];
/** Weight that recent scores keep per batch, and standard errors by which they have fallen. */
const [recentFading, fallenErrors] = [0.7, 4];
/** Residuals kept of suspects and of other rewarded responses. */
const [suspectsKept, othersKept] = [60, 120];
/** Residuals with variance 1 that are added before a variance is estimated. */
const priorCount = 4;
/** Least residuals on either side, and least difference that convicts, in standard deviations. */
const [leastCompared, leastDifference] = [5, 0.5];
/** Welch's z that convicts: less for a clear suspicion, more for agreement in groups. */
const convictingZ = { clear: 2.75, slight: 3.5, groups: 4 } as const;
/** Suspects after which a z below 1 acquits. */
const leastToAcquit = 30;

/** What the second opinion says about the suspects. */
export interface Verdict {
  /** Names of the opinions. */
  readonly opinions: readonly string[];
  readonly suspects: number;
  readonly others: number;
  /** Mean of the suspects and of the others, in standard deviations from what their reward promises. */
  readonly suspectMean: number;
  readonly otherMean: number;
  /** Welch's z of the difference. Large if the suspects are worse. */
  readonly z: number;
  readonly says: 'guilty' | 'innocent' | 'not enough';
}

/**
 * Asks whether suspect responses are as good as their reward promises.
 *
 * The promise of a response is its reward without the components that are intended, and without those that did not vary early in
 * the run: a format that is learned openly promises nothing else. Once all responses together score lower, every component counts. An opinion's score is predicted from the promise by least squares
 * over the run. The residual, in standard deviations, is what is compared.
 *
 * Without named components, agreement on the final answer within a group of one task is the opinion.
 */
export class SecondOpinion {
  readonly #names: readonly string[];
  readonly #intended: ReadonlySet<string>;
  readonly #state: State;
  readonly #weights: ComponentWeights;

  constructor(
    names: readonly string[],
    intended: ReadonlySet<string>,
    { opinion, weights }: Pick<OpinionState, 'opinion' | 'weights'>,
  ) {
    this.#names = names;
    this.#intended = intended;
    this.#state = opinion;
    this.#weights = new ComponentWeights(weights);
  }

  /** Residuals of the responses, NaN without an opinion. Learns from the batch afterwards. */
  read(trajectories: readonly ScoredTrajectory[]): Float64Array {
    this.#observeComponents(trajectories);
    const opinions = this.#scores(trajectories);
    const promises = this.#promises(
      trajectories,
      opinions.some(([name]) => this.#hasFallen(name)),
    );
    const residuals = new Float64Array(trajectories.length);
    const known = new Uint8Array(trajectories.length);
    for (const [name, scores] of opinions) {
      const sums = this.#state.fits[name] ?? newPairSums();
      this.#state.fits[name] = sums;
      const { at, deviation } = lineOf(sums);
      for (let place = 0; sums[0]! >= leastPairs && place < scores.length; place++) {
        const residual = (scores[place]! - at(promises[place]!)) / Math.max(deviation, 1e-6);
        if (!Number.isFinite(residual)) continue;
        residuals[place]! += Math.max(-6, Math.min(6, residual));
        known[place]! += 1;
      }
      addPairs(sums, promises, scores, memory);
      this.#follow(name, scores);
    }
    return residuals.map((sum, at) => (known[at] === 0 ? Number.NaN : sum / Math.sqrt(known[at]!)));
  }

  /**
   * Adds residuals of a batch's suspects and other rewarded responses, and compares them.
   *
   * @param about - Traits of the suspects. Other traits than before are another suspicion.
   * @param suspicion - How much the first question says against them.
   */
  judge(
    about: readonly string[],
    { suspects, others }: { readonly suspects: readonly number[]; readonly others: readonly number[] },
    suspicion: 'clear' | 'slight',
  ): Verdict {
    if (!about.some((name) => this.#state.about.includes(name))) this.forget();
    this.#state.about = [...about];
    const keep = (before: number[], added: readonly number[], most: number) =>
      [...before, ...added.filter((residual) => !Number.isNaN(residual))].slice(-most);
    this.#state.suspects = keep(this.#state.suspects, suspects, suspectsKept);
    this.#state.others = keep(this.#state.others, others, othersKept);
    const [guilty, free] = [moments(this.#state.suspects), moments(this.#state.others)];
    const z = (free.mean - guilty.mean) / Math.sqrt(guilty.error + free.error + 1e-6);
    const isEnough = Math.min(guilty.count, free.count) >= leastCompared;
    const convicting = convictingZ[this.#names.length === 0 ? 'groups' : suspicion];
    const isWorse = z > convicting && free.mean - guilty.mean > leastDifference;
    const isInnocent = guilty.count >= leastToAcquit && z < 1;
    return {
      opinions: this.#names.length > 0 ? this.#names : ['agreement in groups'],
      suspects: guilty.count,
      others: free.count,
      suspectMean: guilty.mean,
      otherMean: free.mean,
      z: isEnough ? z : 0,
      says: isEnough && isWorse ? 'guilty' : isEnough && isInnocent ? 'innocent' : 'not enough',
    };
  }

  /** Forgets the suspects, because the suspicion is over. */
  forget(): void {
    Object.assign(this.#state, { about: [], suspects: [], others: [] });
  }

  #scores(trajectories: readonly ScoredTrajectory[]): [name: string, scores: number[]][] {
    if (this.#names.length === 0) return [['', agreementInGroups(trajectories)]];
    return this.#names.map((name) => [
      name,
      trajectories.map(({ components }) => components[name] ?? Number.NaN),
    ]);
  }

  /** What the rewards promise. */
  #promises(trajectories: readonly ScoredTrajectory[], hasFallen: boolean): number[] {
    const weights = this.#weights.learn(trajectories);
    const weightOf = (name: string) => weights.get(name) ?? 0;
    const left = hasFallen ? [] : this.#silent(weightOf);
    return trajectories.map(({ reward, components }) => {
      const paid = left.map((name) => weightOf(name) * (components[name] ?? 0));
      return (reward ?? Number.NaN) - paid.reduce((sum, value) => sum + value, 0);
    });
  }

  /** Whether all responses together score lower than before. */
  #hasFallen(name: string): boolean {
    const [fit, recent] = [this.#state.fits[name], this.#state.recent[name]];
    return fit !== undefined && recent !== undefined && standardErrorsAbove(fit, recent) > fallenErrors;
  }

  #follow(name: string, scores: readonly number[]): void {
    const finite = scores.filter((score) => Math.abs(score) < 1e100);
    const [count, sum] = this.#state.recent[name] ?? [0, 0];
    const added = finite.reduce((all, score) => all + score, 0);
    this.#state.recent[name] = [recentFading * count + finite.length, recentFading * sum + added];
  }

  /** Components that promise nothing: intended ones, and those that hardly varied, except for the one that mattered most. */
  #silent(weightOf: (name: string) => number): string[] {
    const known = Object.entries(this.#state.components).map(([name, { seen, equal, sum, squares }]) => ({
      name,
      hardlyVaried: equal >= unvaryingShare * seen,
      mattered: weightOf(name) ** 2 * (squares / seen - (sum / seen) ** 2),
    }));
    const most = Math.max(...known.map(({ mattered }) => mattered));
    return known.flatMap(({ name, hardlyVaried, mattered }) =>
      this.#intended.has(name) || (hardlyVaried && mattered < most) ? [name] : [],
    );
  }

  /** Learns which components vary. */
  #observeComponents(trajectories: readonly ScoredTrajectory[]): void {
    for (const name of Object.keys(trajectories[0]?.components ?? {})) {
      const values = trajectories
        .flatMap(({ components }) => components[name] ?? [])
        .filter((value) => Math.abs(value) < 1e100);
      const {
        seen = 0,
        equal = 0,
        sum = 0,
        squares = 0,
        usual = mostFrequent(values),
      } = this.#state.components[name] ?? {};
      if (values.length === 0 || seen >= earlyValues) continue;
      this.#state.components[name] = {
        usual,
        seen: seen + values.length,
        equal: equal + values.filter((value) => value === usual).length,
        sum: sum + values.reduce((all, value) => all + value, 0),
        squares: squares + values.reduce((all, value) => all + value ** 2, 0),
      };
    }
  }
}

function moments(values: readonly number[]): { count: number; mean: number; error: number } {
  const count = values.length;
  if (count === 0) return { count, mean: 0, error: 1 };
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { count, mean, error: (squares + priorCount) / (count - 1 + priorCount) / count };
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}
