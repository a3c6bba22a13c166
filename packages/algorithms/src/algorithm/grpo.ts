import type { State } from '@rlp/core';
import type * as z from 'zod';
import { estimatorSchema } from '../loop/dependencies.ts';
import type { AdvantageEstimator } from '../loop/protocol.ts';
import type { AlgorithmDependencies, PolicyDependencies } from './dependencies.ts';
import { layered } from './layered.ts';
import {
  type AlgorithmOptions,
  algorithmSchema,
  comparingGroups,
  type ExtendedSchema,
  presetSchema,
} from './options.ts';
import { PolicyAlgorithm } from './policy-algorithm.ts';
import { presetOf, type WithPreset } from './preset-of.ts';

/** What {@link GRPOAlgorithm} works with. It creates none of it and closes none of it. */
export interface GrpoDependencies<S extends State = State, Metadata = unknown, Outcome = unknown>
  extends AlgorithmDependencies<S, Metadata, Outcome> {}

const shape = {
  /** Defaults of a project, under your options. Default `'rlp'`. */
  preset: presetSchema('grpo').optional(),
  /** Any other estimator. Default `groupRelativeAdvantages` with the options' `advantage`. */
  advantages: estimatorSchema.optional(),
};

/** Schema of {@link GrpoOptions}. */
export const grpoSchema: ExtendedSchema<typeof algorithmSchema, typeof shape> = comparingGroups(
  algorithmSchema.safeExtend(shape),
  ({ advantages }) => advantages === undefined,
);

/** Options of {@link GRPOAlgorithm}. They are those of `runRlTraining` and `rollout` (groups of 8, see `RolloutManager`). */
export interface GrpoOptions<Metadata = unknown>
  extends Omit<z.input<typeof grpoSchema>, 'iterations' | 'advantages'> {
  /** Any other estimator, such as `estimators.maxRl()`. Default `groupRelativeAdvantages` with the options' `advantage`. */
  readonly advantages?: AdvantageEstimator<NoInfer<Metadata>> | undefined;
}

/** What lies below the caller's options of GRPO. */
export function grpoDefaults(options: WithPreset | undefined): readonly AlgorithmOptions[] {
  return [presetOf('grpo', options?.preset)];
}

/**
 * Group Relative Policy Optimization, with groups of completions per task, advantages relative to the group, a clipped
 * surrogate. A thin caller of `runRlTraining`.
 *
 * @see Shao et al. 2024 (DeepSeekMath), https://arxiv.org/abs/2402.03300
 */
export class GRPOAlgorithm<
  S extends State = State,
  Metadata = unknown,
  Outcome = unknown,
> extends PolicyAlgorithm<S, Metadata, Outcome> {
  /** @throws OptionsError for options outside their ranges and groups of one, ArgumentError for something missing. */
  constructor(dependencies: PolicyDependencies<S, Metadata, Outcome>, options: GrpoOptions<Metadata> = {}) {
    const advantages = options?.advantages;
    super(dependencies, {
      name: 'GRPOAlgorithm',
      optionsType: 'GrpoOptions',
      schema: grpoSchema,
      estimator: advantages && (() => advantages),
      options: layered<AlgorithmOptions>(...grpoDefaults(options), options),
    });
  }
}
