import type { State } from '@rlp/core';
import type { PolicyDependencies } from './dependencies.ts';
import { layered } from './layered.ts';
import type { AlgorithmOptions } from './options.ts';
import { PolicyAlgorithm } from './policy-algorithm.ts';

/** Options of {@link GSPOAlgorithm}. They are those of `runRlTraining` and `rollout` (groups of 8). */
export type GspoOptions = AlgorithmOptions;

/** What lies below the caller's options. */
export const gspoDefaults = {
  minibatches: 4,
  loss: { ratio: 'sequence', clipLow: 3e-4, clipHigh: 4e-4 },
  aggregation: 'sequence-mean-token-mean',
} satisfies AlgorithmOptions;

/**
 * Group Sequence Policy Optimization. The ratio is that of whole sequences (their geometric mean per token).
 *
 * Its clip bounds are a thousand times tighter than a token's. It makes four mini-batches, as in the paper, because nothing is
 * clipped in the first update.
 *
 * @see Zheng et al. 2025, https://arxiv.org/abs/2507.18071
 */
export class GSPOAlgorithm<
  S extends State = State,
  Metadata = unknown,
  Outcome = unknown,
> extends PolicyAlgorithm<S, Metadata, Outcome> {
  /** @throws OptionsError for options outside their ranges and groups of one, ArgumentError for something missing. */
  constructor(dependencies: PolicyDependencies<S, Metadata, Outcome>, options: GspoOptions = {}) {
    super(dependencies, {
      name: 'GSPOAlgorithm',
      optionsType: 'GspoOptions',
      options: layered<AlgorithmOptions>(gspoDefaults, options),
    });
  }
}
