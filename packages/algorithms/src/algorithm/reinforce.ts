import { parseOptions, type State } from '@rlp/core';
import * as z from 'zod';
import {
  type ReinforceEstimatorOptions,
  reinforceEstimator,
  reinforcePlusPlusEstimator,
} from '../estimator/return-estimators.ts';
import { layered } from './layered.ts';
import { type AlgorithmDependencies, type AlgorithmOptions, PolicyAlgorithm } from './policy-algorithm.ts';
import { presetOf } from './preset-of.ts';
import type { PresetName } from './presets.ts';

/**
 * Options of {@link REINFORCEAlgorithm}: those of `runRlTraining`, with 64 `tasksPerIteration` and a `rollout` of one
 * trajectory per task (8 for the baseline `'group-mean'`).
 */
export interface ReinforceOptions extends AlgorithmOptions {
  /** A project's defaults; your options go before them. Default `'rlp'`. */
  readonly preset?: PresetName<'reinforce'> | undefined;
  /**
   * `'plain'` (default): the policy gradient, baseline `'batch-mean'`. `'plus-plus'`: REINFORCE++, a clipped surrogate on
   * returns whitened over the batch, without baseline; with `reinforce: { baseline: 'group-mean' }` its variant for groups.
   */
  readonly variant?: 'plain' | 'plus-plus' | undefined;
  /** Of `estimators.reinforce`. */
  readonly reinforce?: ReinforceEstimatorOptions | undefined;
}

const variantSchema = z.strictObject({ variant: z.enum(['plain', 'plus-plus']).default('plain') });

type Layer = AlgorithmOptions & Pick<ReinforceOptions, 'variant' | 'reinforce'>;

const variants = {
  plain: { loss: { surrogate: 'policy-gradient' }, reinforce: { baseline: 'batch-mean' } },
  'plus-plus': { loss: { clipLow: 0.2, clipHigh: 0.2 } },
} satisfies Record<string, Layer>;

/**
 * REINFORCE: returns less a baseline times the gradient of the logprobs; no critic, no groups.
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
  constructor(
    dependencies: AlgorithmDependencies<S, Metadata, Outcome>,
    { preset, ...given }: ReinforceOptions = {},
  ) {
    const defaults = presetOf('REINFORCEAlgorithm', 'reinforce', preset);
    const { variant } = parseOptions('REINFORCEAlgorithm', variantSchema, {
      variant: given.variant ?? defaults.variant,
    });
    const isGrouped = (given.reinforce ?? defaults.reinforce)?.baseline === 'group-mean';
    const sizes: Layer = isGrouped ? {} : { tasksPerIteration: 64, rollout: { groupSize: 1 } };
    const layers: Layer[] = [sizes, variants[variant], defaults, given];
    const { variant: _, reinforce, ...options } = layered(...layers);
    const make = variant === 'plain' ? reinforceEstimator : reinforcePlusPlusEstimator;
    super(dependencies, {
      name: 'REINFORCEAlgorithm',
      optionsType: 'ReinforceOptions',
      estimator: make(reinforce),
      groups: isGrouped ? 'at-least-two' : 'any-size',
      options,
    });
  }
}
