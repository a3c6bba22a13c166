import { type State, withForeignNames } from '@rlp/core';
import * as z from 'zod';
import {
  reinforceEstimator,
  reinforceEstimatorSchema,
  reinforcePlusPlusEstimator,
} from '../estimator/return-estimators.ts';
import { hasOwnCollector, type PolicyDependencies } from './dependencies.ts';
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

const shape = {
  /** Defaults of a project, under your options. Default `'rlp'`. */
  preset: presetSchema('reinforce').optional(),
  /**
   * `'plain'` is the policy gradient with the baseline `'batch-mean'`. `'plus-plus'` is REINFORCE++: a clipped surrogate on
   * returns whitened over the batch, without a baseline. Default `'plain'`.
   */
  variant: z.enum(['plain', 'plus-plus']).optional(),
  /** How rewards become returns. See `estimators.reinforce`. Default `{}`. */
  reinforce: withForeignNames(reinforceEstimatorSchema, { discount: 'gamma' }).optional(),
};

/** Schema of {@link ReinforceOptions}. */
export const reinforceSchema: ExtendedSchema<typeof algorithmSchema, typeof shape> = comparingGroups(
  algorithmSchema.safeExtend(shape),
  ({ reinforce }) => reinforce?.baseline === 'group-mean',
);

/**
 * Options of {@link REINFORCEAlgorithm}. They are those of `runRlTraining`, with 64 `tasksPerIteration` and a `rollout` of one
 * trajectory per task (8 for the baseline `'group-mean'`).
 */
export interface ReinforceOptions extends Omit<z.input<typeof reinforceSchema>, 'iterations'> {}

type Layer = AlgorithmOptions & Pick<ReinforceOptions, 'variant' | 'reinforce'>;

const variants = {
  plain: { loss: { surrogate: 'policy-gradient' }, reinforce: { baseline: 'batch-mean' } },
  'plus-plus': { loss: { clipLow: 0.2, clipHigh: 0.2 } },
} satisfies Record<string, Layer>;

/** What lies below the caller's options of REINFORCE. A collector that exists has its own `rollout`. */
export function reinforceDefaults(
  options: (WithPreset & Pick<ReinforceOptions, 'variant' | 'reinforce'>) | undefined,
  collector: 'made' | 'given' = 'made',
): readonly Layer[] {
  const defaults = presetOf('reinforce', options?.preset);
  const isGrouped = (options?.reinforce ?? defaults.reinforce)?.baseline === 'group-mean';
  const rollout = collector === 'given' ? undefined : { groupSize: 1 };
  const sizes: Layer = isGrouped ? {} : { tasksPerIteration: 64, rollout };
  return [sizes, variants[variantOf(options)], defaults];
}

function variantOf(options: (WithPreset & Pick<ReinforceOptions, 'variant'>) | undefined) {
  return options?.variant ?? presetOf('reinforce', options?.preset).variant ?? 'plain';
}

/**
 * REINFORCE. Returns less a baseline, times the gradient of the logprobs. No critic, no groups.
 *
 * @see Williams 1992, https://doi.org/10.1007/BF00992696
 * @see Hu et al. 2025 (REINFORCE++), https://arxiv.org/abs/2501.03262
 */
export class REINFORCEAlgorithm<
  S extends State = State,
  Metadata = unknown,
  Outcome = unknown,
> extends PolicyAlgorithm<S, Metadata, Outcome> {
  /** @throws OptionsError for options outside their ranges, ArgumentError for something missing. */
  constructor(dependencies: PolicyDependencies<S, Metadata, Outcome>, options: ReinforceOptions = {}) {
    const collector = hasOwnCollector(dependencies) ? 'given' : 'made';
    const all = layered<ReinforceOptions>(...reinforceDefaults(options, collector), options);
    const make = variantOf(options) === 'plain' ? reinforceEstimator : reinforcePlusPlusEstimator;
    super(dependencies, {
      name: 'REINFORCEAlgorithm',
      optionsType: 'ReinforceOptions',
      schema: reinforceSchema,
      estimator: () => make(all.reinforce),
      options: all,
    });
  }
}
