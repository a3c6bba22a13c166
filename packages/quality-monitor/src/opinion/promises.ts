import type { ScoredTrajectory } from '@rlp/core';
import { counted } from '../text/counted.ts';
import { ComponentWeights } from './component-weights.ts';
import type { OpinionState } from './state.ts';

type State = Pick<OpinionState, 'weights' | 'components'>;

/** Early values that tell whether a component varies, and the share of one value at which it does not. */
const [earlyValues, unvaryingShare] = [256, 0.9];

/**
 * What rewards promise.
 *
 * The promise of a response is its reward without the components that are intended, and without those that did not vary early in
 * the run: a format that is learned openly promises nothing else.
 */
export class Promises {
  readonly #intended: ReadonlySet<string>;
  readonly #state: State;
  readonly #weights: ComponentWeights;

  constructor(intended: ReadonlySet<string>, state: State) {
    this.#intended = intended;
    this.#state = state;
    this.#weights = new ComponentWeights(state.weights);
  }

  /** Promises of a batch, and its rewards, which is what they promise if every component counts. NaN for no reward. */
  of(trajectories: readonly ScoredTrajectory[]): { readonly promises: number[]; readonly rewards: number[] } {
    this.#observe(trajectories);
    const weights = this.#weights.learn(trajectories);
    const silent = this.#silent((name) => weights.get(name) ?? 0);
    const rewards = trajectories.map(({ reward }) => reward ?? Number.NaN);
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
      const values = trajectories
        .flatMap(({ components }) => components[name] ?? [])
        .filter((value) => Math.abs(value) < 1e100);
      const known = this.#state.components[name];
      const usual = known?.usual ?? mostFrequent(values);
      const { seen, equal, sum, squares } = known ?? { seen: 0, equal: 0, sum: 0, squares: 0 };
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
}

function mostFrequent(values: readonly number[]): number {
  return [...counted(values)].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}
