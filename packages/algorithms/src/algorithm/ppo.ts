import { ArgumentError, type CriticBackend, type State } from '@rlp/core';
import { type GaeEstimatorOptions, gaeEstimator } from '../estimator/critic-estimators.ts';
import type { TokenEstimator } from '../loop/protocol.ts';
import { layered } from './layered.ts';
import { type AlgorithmDependencies, type AlgorithmOptions, PolicyAlgorithm } from './policy-algorithm.ts';
import { presetOf } from './preset-of.ts';
import type { PresetName } from './presets.ts';

/** What {@link PPOAlgorithm} works with. */
export interface PpoDependencies<S extends State = State, Metadata = unknown, Outcome = unknown>
  extends AlgorithmDependencies<S, Metadata, Outcome> {
  /**
   * Learns values. The same object as `backend`: one trunk, one loss, `critic.coefficient` between them. Another one: a
   * model of its own with its own updates, before the policy's.
   */
  readonly critic: CriticBackend;
}

/**
 * Options of {@link PPOAlgorithm}: those of `runRlTraining`, with 4 `epochs`, 64 `tasksPerIteration`, `clipHigh` 0.2 and a
 * `rollout` of one trajectory per task.
 */
export interface PpoOptions extends AlgorithmOptions {
  /** A project's defaults; your options go before them. Default `'rlp'`. */
  readonly preset?: PresetName<'ppo'> | undefined;
  /** Of `estimators.gae`: discount 1, λ 0.95, advantages whitened. */
  readonly gae?: GaeEstimatorOptions | undefined;
  /** Another estimator that needs the critic, such as `estimators.bilevelGae()`. Default: `estimators.gae` with `gae`. */
  readonly advantages?: TokenEstimator | undefined;
}

const own = {
  tasksPerIteration: 64,
  epochs: 4,
  loss: { clipLow: 0.2, clipHigh: 0.2 },
  rollout: { groupSize: 1 },
} satisfies AlgorithmOptions;

/**
 * Proximal Policy Optimization: advantages by GAE from a critic's values, a clipped surrogate, several epochs.
 *
 * @see Schulman et al. 2017, https://arxiv.org/abs/1707.06347
 */
export class PPOAlgorithm<
  S extends State = State,
  Metadata = unknown,
  Outcome = unknown,
> extends PolicyAlgorithm<S, Metadata, Outcome> {
  /** @throws OptionsError for options outside their ranges, ArgumentError for something missing, a critic above all. */
  constructor(
    dependencies: PpoDependencies<S, Metadata, Outcome>,
    { preset, advantages, ...given }: PpoOptions = {},
  ) {
    const { critic } = dependencies;
    if (critic === undefined || typeof critic.values !== 'function') {
      throw new ArgumentError(
        'PPOAlgorithm: expected a `critic`, a backend with a value head; pass `critic: backend` where policy and critic ' +
          'share a model, or take GRPOAlgorithm, which needs none',
      );
    }
    const layers: (AlgorithmOptions & Pick<PpoOptions, 'gae'>)[] = [
      own,
      presetOf('PPOAlgorithm', 'ppo', preset),
      given,
    ];
    const { gae, ...options } = layered(...layers);
    const estimator = advantages ?? gaeEstimator(gae);
    super(dependencies, {
      name: 'PPOAlgorithm',
      optionsType: 'PpoOptions',
      estimator,
      critic,
      groups: 'any-size',
      options,
    });
  }
}
