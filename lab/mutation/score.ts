/** A mutant after the run, as Stryker reports it. */
export interface MutantResult {
  readonly status: string;
}

/** Detected share of the mutants in percent. */
export interface Score {
  readonly percent: number;
  /** 95 % of samples of this size contain the score of all mutants. Both ends are the score if all were run. */
  readonly interval: readonly [number, number];
  /** Mutants that were run, and mutants that tests reach. */
  readonly drawn: number;
  readonly reached: number;
  readonly survived: number;
  readonly timedOut: number;
  /** Mutants that no test reaches. They count as not detected. */
  readonly unreached: number;
}

/** Wilson's interval of a share: 1.96 standard deviations of a binomial. */
export function wilsonInterval(successes: number, trials: number): readonly [number, number] {
  const z2 = 1.96 ** 2;
  const share = successes / trials;
  const center = (share + z2 / (2 * trials)) / (1 + z2 / trials);
  const half =
    (1.96 * Math.sqrt((share * (1 - share)) / trials + z2 / (4 * trials ** 2))) / (1 + z2 / trials);
  return [center - half, center + half];
}

/**
 * Score of a run over all mutants, or over a sample. `'CompileError'` means that a mutant was not drawn.
 *
 * @throws if no mutant was run.
 */
export function score(mutants: readonly MutantResult[]): Score {
  const count = (...statuses: string[]) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const [survived, timedOut, unreached] = [count('Survived'), count('Timeout'), count('NoCoverage')];
  const detected = count('Killed') + timedOut;
  const drawn = detected + survived;
  if (drawn === 0) throw new Error('mutation: no mutant was run');
  const reached = drawn + count('CompileError');
  const reachable = (100 * reached) / (reached + unreached);
  const share = detected / drawn;
  const [low, high] = drawn === reached ? [share, share] : wilsonInterval(detected, drawn);
  return {
    percent: reachable * share,
    interval: [reachable * low, reachable * high],
    ...{ drawn, reached, survived, timedOut, unreached },
  };
}
