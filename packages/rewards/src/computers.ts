/** Reward computers over whole groups: ranks, Pareto fronts, costs of verification, sums of normalised rewards, whole judgements. */
export * from './computers/index.ts';
