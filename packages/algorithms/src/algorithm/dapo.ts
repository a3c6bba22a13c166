import type { State } from '@rlp/core';
import type { PolicyDependencies } from './dependencies.ts';
import { layered } from './layered.ts';
import type { AlgorithmOptions } from './options.ts';
import { PolicyAlgorithm } from './policy-algorithm.ts';

/** Options of {@link DAPOAlgorithm}. They are those of `runRlTraining` and `rollout` (groups of 8). */
export type DapoOptions = AlgorithmOptions;

/** What lies below the caller's options. */
export const dapoDefaults = {
  loss: { clipLow: 0.2, clipHigh: 0.28 },
  aggregation: 'token-mean',
  zeroVarianceGroups: 'replace',
  truncatedTrajectories: 'mask',
} satisfies AlgorithmOptions;

/**
 * DAPO is GRPO with a higher upper clip bound and an average over tokens.
 *
 * Groups without reward variance are replaced by groups of further tasks, in at most `collectionRounds` rounds (dynamic
 * sampling). Answers that a limit cut are not learned from. The soft punishment of long answers needs their length:
 * `overlong: { maximum, buffer }`.
 *
 * @see Yu et al. 2025, https://arxiv.org/abs/2503.14476
 */
export class DAPOAlgorithm<
  S extends State = State,
  Metadata = unknown,
  Outcome = unknown,
> extends PolicyAlgorithm<S, Metadata, Outcome> {
  /** @throws OptionsError for options outside their ranges and groups of one, ArgumentError for something missing. */
  constructor(dependencies: PolicyDependencies<S, Metadata, Outcome>, options: DapoOptions = {}) {
    super(dependencies, {
      name: 'DAPOAlgorithm',
      optionsType: 'DapoOptions',
      options: layered<AlgorithmOptions>(dapoDefaults, options),
    });
  }
}
