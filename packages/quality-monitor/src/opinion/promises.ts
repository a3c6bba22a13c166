import { counted, type ScoredTrajectory } from '@rlp/core';
import type { OpinionState } from './state.ts';

/** Early values that tell whether a component varies, and the share of one value at which it does not. */
const [earlyValues, unvaryingShare] = [256, 0.9];
/** Most components with a weight, and responses that weights are learned from. */
const [mostComponents, memory] = [16, 8000];
/** Ridge, relative to the number of responses. */
const ridge = 1e-6;

/**
 * What rewards promise.
 *
 * The promise of a response is its reward without the components that are intended, and without those that did not vary early in
 * the run: a format that is learned openly promises nothing else. Least squares within batches tell how much each component adds to
 * the reward. Where the reward is a weighted sum of components, that is exact as soon as each of them varied.
 */
export class Promises {
  readonly #intended: ReadonlySet<string>;
  readonly #state: Pick<OpinionState, 'weights' | 'components'>;

  constructor(intended: ReadonlySet<string>, state: Pick<OpinionState, 'weights' | 'components'>) {
    this.#intended = intended;
    this.#state = state;
  }

  /** Promises of a batch, and its rewards, which is what they promise if every component counts. NaN for no reward. */
  of(trajectories: readonly ScoredTrajectory[]): { readonly promises: number[]; readonly rewards: number[] } {
    const rewards = trajectories.map(({ reward }) => reward ?? Number.NaN);
    this.#observe(trajectories);
    this.#learn(trajectories, rewards);
    const weights = this.#weights();
    const silent = this.#silent((name) => weights.get(name) ?? 0);
    const promises = trajectories.map(({ components }, at) =>
      silent.reduce((rest, name) => rest - weights.get(name)! * (components[name] ?? 0), rewards[at]!),
    );
    return { promises, rewards };
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
  #observe(trajectories: readonly ScoredTrajectory[]): void {
    for (const name of Object.keys(trajectories[0]?.components ?? {})) {
      const values = trajectories.flatMap(({ components }) => components[name] ?? []).filter(isModerate);
      const nothing = { usual: mostFrequent(values), seen: 0, equal: 0, sum: 0, squares: 0 };
      const { usual, seen, equal, sum, squares } = this.#state.components[name] ?? nothing;
      if (values.length === 0 || seen >= earlyValues) continue;
      this.#state.components[name] = {
        usual,
        seen: seen + values.length,
        equal: equal + values.filter((value) => value === usual).length,
        sum: values.reduce((all, value) => all + value, sum),
        squares: values.reduce((all, value) => all + value ** 2, squares),
      };
    }
  }

  /** Adds products of distances from the batch's means. Those of a new component begin at 0. */
  #learn(trajectories: readonly ScoredTrajectory[], rewards: readonly number[]): void {
    const { weights } = this.#state;
    const given = new Set(trajectories.flatMap(({ components }) => Object.keys(components)));
    weights.names = [...new Set([...weights.names, ...given])].slice(0, mostComponents);
    const rows = trajectories
      .map(({ components }, at) => [rewards[at]!, ...weights.names.map((name) => components[name] ?? 0)])
      .filter((row) => row.every(isModerate));
    const columns = [...Array(weights.names.length + 1).keys()];
    const means = columns.map((column) => rows.reduce((sum, row) => sum + row[column]! / rows.length, 0));
    const kept = Math.min(1, memory / (weights.count + rows.length));
    weights.count = kept * (weights.count + rows.length);
    weights.sums = columns.map((first) =>
      columns.map((second) => {
        const products = rows.map((row) => (row[first]! - means[first]!) * (row[second]! - means[second]!));
        const added = products.reduce((sum, product) => sum + product, 0);
        return kept * ((weights.sums[first]?.[second] ?? 0) + added);
      }),
    );
  }

  /** Solves the normal equations by elimination. @returns The weight of each component. */
  #weights(): ReadonlyMap<string, number> {
    const { names, count, sums } = this.#state.weights;
    const rows = sums.slice(1).map(([reward = 0, ...products]) => [...products, reward]);
    for (const [at, row] of rows.entries()) row[at]! += ridge * count + 1e-12;
    for (const [pivot, known] of rows.entries()) {
      for (const row of rows) {
        if (row === known) continue;
        const factor = row[pivot]! / known[pivot]!;
        for (let column = pivot; column < row.length; column++) row[column]! -= factor * known[column]!;
      }
    }
    return new Map(rows.map((row, at) => [names[at]!, row.at(-1)! / row[at]!]));
  }
}

/** Whether sums of squares cannot overflow. */
function isModerate(value: number): boolean {
  return Math.abs(value) < 1e100;
}

function mostFrequent(values: readonly number[]): number {
  return [...counted(values)].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}
