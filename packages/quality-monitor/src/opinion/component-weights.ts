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
    for (const { components } of trajectories) {
      for (const name of Object.keys(components)) this.#know(name);
    }
    const { names } = this.#state;
    const rows = trajectories.flatMap(({ reward, components }) => {
      const row = [...names.map((name) => components[name] ?? 0), reward ?? Number.NaN];
      return row.every((value) => Math.abs(value) < 1e100) ? [row] : [];
    });
    this.#add(rows);
    const weights = this.#solve();
    return new Map(names.map((name, at) => [name, weights[at]!]));
  }

  #know(name: string): void {
    const { names, sums } = this.#state;
    if (names.includes(name) || names.length >= mostComponents) return;
    const size = names.length + 1;
    const larger = new Float64Array((size + 1) ** 2);
    // The reward stays last.
    const place = (at: number) => (at === size - 1 ? size : at);
    for (let at = 0; at < sums.length; at++) {
      larger[place(Math.floor(at / size)) * (size + 1) + place(at % size)] = sums[at]!;
    }
    names.push(name);
    this.#state.sums = larger;
  }

  /** Adds products of distances from the batch's means. */
  #add(rows: readonly (readonly number[])[]): void {
    const { sums } = this.#state;
    const size = this.#state.names.length + 1;
    const means = Array.from({ length: size }, (_, column) =>
      rows.reduce((sum, row) => sum + row[column]! / rows.length, 0),
    );
    const kept = Math.min(1, memory / (this.#state.count + rows.length));
    this.#state.count = kept * (this.#state.count + rows.length);
    for (let at = 0; at < sums.length; at++) {
      const [first, second] = [Math.floor(at / size), at % size];
      const added = rows.reduce(
        (sum, row) => sum + (row[first]! - means[first]!) * (row[second]! - means[second]!),
        0,
      );
      sums[at] = kept * (sums[at]! + added);
    }
  }

  /** Solves the normal equations by elimination. */
  #solve(): Float64Array {
    const count = this.#state.names.length;
    const size = count + 1;
    const rows = Array.from({ length: count }, (_, at) => this.#state.sums.slice(at * size, (at + 1) * size));
    for (let at = 0; at < count; at++) rows[at]![at]! += ridge * this.#state.count + 1e-12;
    for (let pivot = 0; pivot < count; pivot++) {
      for (let row = 0; row < count; row++) {
        if (row === pivot) continue;
        const factor = rows[row]![pivot]! / rows[pivot]![pivot]!;
        for (let column = pivot; column < size; column++)
          rows[row]![column]! -= factor * rows[pivot]![column]!;
      }
    }
    return Float64Array.from(rows, (row, at) => row[count]! / row[at]!);
  }
}
