import type { ScoredTrajectory } from '@rlp/core';
import type { DetectorState } from './state.ts';

/**
 * Groups of responses that may be similar for reasons other than the reward: `numbers` has the group of each response.
 *
 * `'tasks'` share a prompt. `'neighbours'` are adjacent, used if each response is its own task.
 */
export type Clusters = DetectorState['reference']['waiting'][number]['clusters'];

/** Adjacent responses that may share a prompt. */
const neighbours = 8;
/** Prior correlation of a task's responses. */
const priorCorrelation = 0.25;
/** Variance of the prior, in hits. */
const priorHits = 2;
const most = 8;
const fading = 0.98;

/** A batch's tasks, or groups of eight adjacent responses if each response is its own task. */
export function clustersOf(trajectories: readonly ScoredTrajectory[]): Clusters {
  const tasks = new Map<string, number>();
  const numbers = Uint32Array.from(trajectories, ({ trajectory: { task } }) => {
    const number = tasks.get(task.id) ?? tasks.size;
    tasks.set(task.id, number);
    return number;
  });
  return tasks.size < trajectories.length
    ? { numbers, of: 'tasks' }
    : { numbers: numbers.map((_, at) => Math.floor(at / neighbours)), of: 'neighbours' };
}

/**
 * Design effect of each signal: how much more its hits vary between clusters than independent responses would.
 *
 * @see Kish 1965, Survey Sampling, section 5.4
 */
export class DesignEffect {
  readonly #state: DetectorState['evidence']['designEffect'];
  #prior = 1;

  constructor(state: DetectorState['evidence']['designEffect']) {
    this.#state = state;
  }

  /** Sets the prior from the rewarded responses per task, or from the effect over all signals. */
  setPrior({ numbers, of }: Clusters, weights: Float32Array): void {
    const { varied, expected } = this.#state;
    this.#prior = of === 'neighbours' ? Math.max(1, ofAll(varied) / ofAll(expected)) : 1;
    if (of === 'neighbours') return;
    const sizes = new Map<number, number>();
    let [all, squares] = [0, 0];
    for (let at = 0; at < weights.length; at++) {
      const weight = weights[at]!;
      if (weight <= 0) continue;
      const before = sizes.get(numbers[at]!) ?? 0;
      sizes.set(numbers[at]!, before + weight);
      squares += weight * (2 * before + weight);
      all += weight;
    }
    if (all > 0) this.#prior = Math.max(1, 1 + priorCorrelation * (squares / all - 1));
  }

  /** @param varied - Squared distances of the clusters' hits from their expectation. @param expected - Its mean. */
  learn(signal: number, varied: number, expected: number): void {
    this.#state.varied[signal] = fading * this.#state.varied[signal]! + varied;
    this.#state.expected[signal] = fading * this.#state.expected[signal]! + expected;
  }

  /** The design effect, 1 to 8. */
  of(signal: number): number {
    const varied = priorHits * this.#prior + this.#state.varied[signal]!;
    return Math.max(1, Math.min(most, varied / (priorHits + this.#state.expected[signal]!)));
  }
}

function ofAll(sums: Float64Array): number {
  return sums.reduce((all, sum) => all + sum, priorHits);
}
