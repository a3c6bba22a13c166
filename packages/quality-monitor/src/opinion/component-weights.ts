import type { ScoredTrajectory } from '@rlp/core';
import type { OpinionState } from './state.ts';

type State = OpinionState['weights'];

/** Most components, and responses that are remembered. */
const [mostComponents, memory] = [16, 8000];
/** Ridge, relative to the number of responses. */
const ridge = 1e-6;

/**
 * Estimates how much each component adds to the reward, by least squares within batches.
 *
 * Where the reward is a weighted sum of components, the estimate is exact as soon as each of them varied.
 */
export class ComponentWeights {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** Learns from a batch. @returns The weight of each component. */
  learn(trajectories: readonly ScoredTrajectory[]): ReadonlyMap<string, number> {
    const { names } = this.#state;
    for (const name of new Set(trajectories.flatMap(({ components }) => Object.keys(components)))) {
      if (!names.includes(name) && names.length < mostComponents) names.push(name);
    }
    const rows = trajectories.flatMap(({ reward, components }) => {
      const row = [reward ?? Number.NaN, ...names.map((name) => components[name] ?? 0)];
      return row.every((value) => Math.abs(value) < 1e100) ? [row] : [];
    });
    this.#add(rows);
    const weights = this.#solve();
    return new Map(names.map((name, at) => [name, weights[at]!]));
  }

  /** Adds products of distances from the batch's means. Those of a new component begin at 0. */
  #add(rows: readonly (readonly number[])[]): void {
    const columns = [...Array(this.#state.names.length + 1).keys()];
    const means = columns.map((column) => rows.reduce((sum, row) => sum + row[column]! / rows.length, 0));
    const kept = Math.min(1, memory / (this.#state.count + rows.length));
    this.#state.count = kept * (this.#state.count + rows.length);
    this.#state.sums = columns.map((first) =>
      columns.map((second) => {
        const products = rows.map((row) => (row[first]! - means[first]!) * (row[second]! - means[second]!));
        const added = products.reduce((sum, product) => sum + product, 0);
        return kept * ((this.#state.sums[first]?.[second] ?? 0) + added);
      }),
    );
  }

  /** Solves the normal equations by elimination. */
  #solve(): number[] {
    const rows = this.#state.sums.slice(1).map(([reward = 0, ...products]) => [...products, reward]);
    for (const [at, row] of rows.entries()) row[at]! += ridge * this.#state.count + 1e-12;
    for (const [pivot, known] of rows.entries()) {
      for (const row of rows) {
        if (row === known) continue;
        const factor = row[pivot]! / known[pivot]!;
        for (let column = pivot; column < row.length; column++) row[column]! -= factor * known[column]!;
      }
    }
    return rows.map((row, at) => row.at(-1)! / row[at]!);
  }
}
