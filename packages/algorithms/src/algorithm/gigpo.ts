import { ArgumentError, type State, withForeignNames } from '@rlp/core';
import type * as z from 'zod';
import { gigpoEstimator, gigpoEstimatorSchema } from '../estimator/group-estimators.ts';
import type { AlgorithmDependencies, PolicyDependencies } from './dependencies.ts';
import { layered } from './layered.ts';
import { type AlgorithmOptions, algorithmSchema, comparingGroups, type ExtendedSchema } from './options.ts';
import { PolicyAlgorithm } from './policy-algorithm.ts';

const shape = {
  /** How steps and trajectories are compared. See `estimators.gigpo`. Default `{}`. */
  gigpo: withForeignNames(gigpoEstimatorSchema, { discount: 'gamma' }).optional(),
};

/** Schema of {@link GigpoAlgorithmOptions}. */
export const gigpoSchema: ExtendedSchema<typeof algorithmSchema, typeof shape> = comparingGroups(
  algorithmSchema.safeExtend(shape),
);

/** Options of {@link GiGPOAlgorithm}. They are those of `runRlTraining` and `rollout` (groups of 8). */
export interface GigpoAlgorithmOptions extends Omit<z.input<typeof gigpoSchema>, 'iterations'> {}

/** What lies below the caller's options. */
export const gigpoDefaults = { loss: { clipLow: 0.2, clipHigh: 0.2 } } satisfies AlgorithmOptions;

/**
 * Group-in-Group Policy Optimization, for agents of several steps: credit for single steps without a critic.
 *
 * Trajectories are compared with their group. Steps are compared with the group's steps from the same state (`stateKey`). With
 * `rollouts` the steps that the collector makes have to carry their `stateKey`.
 *
 * @see Feng et al. 2025, https://arxiv.org/abs/2505.10978
 */
export class GiGPOAlgorithm<
  S extends State = State,
  Metadata = unknown,
  Outcome = unknown,
> extends PolicyAlgorithm<S, Metadata, Outcome> {
  /**
   * @throws OptionsError for options outside their ranges and groups of one, ArgumentError for something missing (an environment's
   *   `stateKey` too).
   */
  constructor(dependencies: PolicyDependencies<S, Metadata, Outcome>, options: GigpoAlgorithmOptions = {}) {
    const { environment } = (dependencies ?? {}) as Partial<AlgorithmDependencies<S, Metadata, Outcome>>;
    if (environment !== undefined && environment.stateKey === undefined) {
      throw new ArgumentError(
        'GiGPOAlgorithm: the environment has no `stateKey`, so no two states could be told to be the same; give it one, such as ({ prompt }) => JSON.stringify(prompt)',
      );
    }
    super(dependencies, {
      name: 'GiGPOAlgorithm',
      optionsType: 'GigpoAlgorithmOptions',
      schema: gigpoSchema,
      estimator: () => gigpoEstimator(options.gigpo),
      options: layered<AlgorithmOptions>(gigpoDefaults, options),
    });
  }
}
