import type { State } from '@rlp/core';
import type { CollectedDependencies, PolicyDependencies } from './dependencies.ts';
import { layered } from './layered.ts';
import type { AlgorithmOptions } from './options.ts';
import { PolicyAlgorithm } from './policy-algorithm.ts';

/** Options of {@link DrGRPOAlgorithm}. They are those of `runRlTraining` and `rollout` (groups of 8). */
export type DrGrpoOptions = AlgorithmOptions;

const own = {
  advantage: { scale: 'none' },
  loss: { clipLow: 0.2, clipHigh: 0.2 },
  aggregation: 'sequence-mean-token-sum-norm',
} satisfies AlgorithmOptions;

/** Tokens of an answer that a rollout allows by default. */
const defaultMaxTokens = 256;

/**
 * What lies below the caller's options of Dr. GRPO.
 *
 * @param maxTokens - Tokens that an answer may have.
 */
export function drGrpoDefaults(maxTokens: number = defaultMaxTokens): AlgorithmOptions {
  return { ...own, aggregationConstant: maxTokens };
}

/**
 * GRPO done right. It divides neither by the group's deviation nor by the answer's length.
 *
 * The deviation would weigh easy and hard tasks more. The length would favour long wrong answers. The sum of token losses is
 * divided by a constant: `maxTokens` of the rollout's sampling.
 *
 * @see Liu et al. 2025, https://arxiv.org/abs/2503.20783
 */
export class DrGRPOAlgorithm<
  S extends State = State,
  Metadata = unknown,
  Outcome = unknown,
> extends PolicyAlgorithm<S, Metadata, Outcome> {
  /** @throws OptionsError for options outside their ranges and groups of one, ArgumentError for something missing. */
  constructor(dependencies: PolicyDependencies<S, Metadata, Outcome>, options: DrGrpoOptions = {}) {
    const { rollouts } = (dependencies ?? {}) as Partial<CollectedDependencies<Metadata, Outcome>>;
    const sampling = typeof rollouts === 'object' ? rollouts.options?.sampling : options?.rollout?.sampling;
    super(dependencies, {
      name: 'DrGRPOAlgorithm',
      optionsType: 'DrGrpoOptions',
      options: layered<AlgorithmOptions>(drGrpoDefaults(sampling?.maxTokens), options),
    });
  }
}
