import type { ScoredTrajectory } from '@rlp/core';
import { signals } from './signals.ts';

/** Which responses of a batch may be alike for a reason that is not the reward. */
export interface Clusters {
  /** Number of the cluster that each response is in. Shape: `[responses]`. */
  readonly numbers: Uint32Array;
  /** `'tasks'`: of one prompt; `'neighbours'`: side by side, where nobody has said which are of one prompt. */
  readonly of: 'tasks' | 'neighbours';
}

/** What a {@link Likeness} remembers, as JSON data. */
export interface LikenessState {
  readonly varied: readonly number[];
  readonly expected: readonly number[];
}

/** Responses side by side that may be of one prompt. */
const neighbours = 8;
/** Correlation of a task's responses before it is known. */
const presumed = 0.25;
/** Variance that what is presumed counts as, in that of so many hits. */
const presumedHits = 2;
const most = 8;
const fading = 0.98;

/** A batch's tasks; eight responses side by side where each is a task of its own. */
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
 * How much more the hits of each signal vary from cluster to cluster than those of independent responses would (the design effect):
 * where a task has all or none of them, eight responses tell as much as one.
 *
 * @see Kish 1965, Survey Sampling, section 5.4
 */
export class Likeness {
  readonly #varied = new Float64Array(signals.length);
  readonly #expected = new Float64Array(signals.length);
  #presumed = 1;

  /** Presumes what can be before a signal has had hits: from how many rewarded ones a task has, or how alike neighbours were altogether. */
  presume({ numbers, of }: Clusters, standings: Float32Array): void {
    this.#presumed = of === 'neighbours' ? Math.max(1, ofAll(this.#varied) / ofAll(this.#expected)) : 1;
    if (of === 'neighbours') return;
    const sizes = new Map<number, number>();
    let [all, squares] = [0, 0];
    for (let at = 0; at < standings.length; at++) {
      const standing = standings[at]!;
      if (standing <= 0) continue;
      const before = sizes.get(numbers[at]!) ?? 0;
      sizes.set(numbers[at]!, before + standing);
      squares += standing * (2 * before + standing);
      all += standing;
    }
    if (all > 0) this.#presumed = Math.max(1, 1 + presumed * (squares / all - 1));
  }

  /** @param varied - Sum over clusters of the squared distance of its hits from what was expected; `expected` - its mean. */
  learn(signal: number, varied: number, expected: number): void {
    this.#varied[signal] = fading * this.#varied[signal]! + varied;
    this.#expected[signal] = fading * this.#expected[signal]! + expected;
  }

  /** 1 to 8. */
  of(signal: number): number {
    const varied = presumedHits * this.#presumed + this.#varied[signal]!;
    return Math.max(1, Math.min(most, varied / (presumedHits + this.#expected[signal]!)));
  }

  saveState(): LikenessState {
    return { varied: [...this.#varied], expected: [...this.#expected] };
  }

  loadState({ varied, expected }: LikenessState): void {
    this.#varied.set(varied);
    this.#expected.set(expected);
  }
}

function ofAll(sums: Float64Array): number {
  return sums.reduce((all, sum) => all + sum, presumedHits);
}
