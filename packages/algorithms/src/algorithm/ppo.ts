import { type CriticBackend, having, type State, withForeignNames } from '@rlp/core';
import type * as z from 'zod';
import { gaeEstimator, gaeEstimatorSchema } from '../estimator/critic-estimators.ts';
import { estimatorSchema } from '../loop/dependencies.ts';
import type { TokenEstimator } from '../loop/protocol.ts';
import {
  type AlgorithmDependencies,
  type CollectedDependencies,
  collectedSchema,
  dependencySchema,
  hasOwnCollector,
} from './dependencies.ts';
import { layered } from './layered.ts';
import { type AlgorithmOptions, algorithmSchema, type ExtendedSchema, presetSchema } from './options.ts';
import { PolicyAlgorithm } from './policy-algorithm.ts';
import { presetOf, type WithPreset } from './preset-of.ts';

/** What PPO needs besides. */
interface Criticized {
  /**
   * Learns values. If it is the same object as `backend`, they share one trunk and one loss, weighted by `critic.coefficient`.
   * Otherwise it is a separate model, updated before the policy.
   */
  readonly critic: CriticBackend;
}

/** What {@link PPOAlgorithm} works with. */
export interface PpoDependencies<S extends State = State, Metadata = unknown, Outcome = unknown>
  extends AlgorithmDependencies<S, Metadata, Outcome>,
    Criticized {}

/** What {@link PPOAlgorithm} works with if groups come from a collector. */
export interface PpoCollectedDependencies<Metadata = unknown, Outcome = unknown>
  extends CollectedDependencies<Metadata, Outcome>,
    Criticized {}

const critic = having<CriticBackend>(
  'values',
  'a backend with a value head; pass `critic: backend` if policy and critic share a model, or use GRPOAlgorithm, which needs none',
);

const shape = {
  /** Defaults of a project, under your options. Default `'rlp'`. */
  preset: presetSchema('ppo').optional(),
  /** How values become advantages: discount 1, λ 0.95, whitened. See `estimators.gae`. Default `{}`. */
  gae: withForeignNames(gaeEstimatorSchema, { discount: 'gamma', lambda: 'lam lambd' }).optional(),
  /** Another estimator that needs the critic. Default `estimators.gae` with `gae`. */
  advantages: estimatorSchema.optional(),
};

/** Schema of {@link PpoOptions}. */
export const ppoSchema: ExtendedSchema<typeof algorithmSchema, typeof shape> =
  algorithmSchema.safeExtend(shape);

/**
 * Options of {@link PPOAlgorithm}. They are those of `runRlTraining`, with 4 `epochs`, 64 `tasksPerIteration`, `clipHigh` 0.2 and a
 * `rollout` of one trajectory per task.
 */
export interface PpoOptions<Metadata = unknown>
  extends Omit<z.input<typeof ppoSchema>, 'iterations' | 'advantages'> {
  /** Another estimator that needs the critic, such as `estimators.bilevelGae()`. Default `estimators.gae` with `gae`. */
  readonly advantages?: TokenEstimator<NoInfer<Metadata>> | undefined;
}

const own = {
  tasksPerIteration: 64,
  epochs: 4,
  loss: { clipLow: 0.2, clipHigh: 0.2 },
  rollout: { groupSize: 1 },
} satisfies AlgorithmOptions;

/** What lies below the caller's options of PPO. A collector that exists has its own `rollout`. */
export function ppoDefaults(
  options: WithPreset | undefined,
  collector: 'made' | 'given' = 'made',
): readonly AlgorithmOptions[] {
  const { rollout, ...others } = own;
  return [collector === 'given' ? others : { ...others, rollout }, presetOf('ppo', options?.preset)];
}

/**
 * Proximal Policy Optimization, with advantages by GAE from a critic's values, a clipped surrogate, several epochs.
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
    dependencies: PpoDependencies<S, Metadata, Outcome> | PpoCollectedDependencies<Metadata, Outcome>,
    options: PpoOptions<Metadata> = {},
  ) {
    const collector = hasOwnCollector(dependencies) ? 'given' : 'made';
    const all = layered<PpoOptions<Metadata>>(...ppoDefaults(options, collector), options);
    super(dependencies, {
      name: 'PPOAlgorithm',
      optionsType: 'PpoOptions',
      dependenciesType: 'PpoDependencies',
      schema: ppoSchema,
      dependencySchema: dependencySchema.extend({ critic }),
      collectedSchema: collectedSchema.extend({ critic }),
      estimator: () => options.advantages ?? gaeEstimator(all.gae),
      critic: dependencies?.critic,
      options: all,
    });
  }
}
