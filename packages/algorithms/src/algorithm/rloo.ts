import type { State } from '@rlp/core';
import type * as z from 'zod';
import type { PolicyDependencies } from './dependencies.ts';
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
  preset: presetSchema('rloo').optional(),
};

/** Schema of {@link RlooOptions}. */
export const rlooSchema: ExtendedSchema<typeof algorithmSchema, typeof shape> = comparingGroups(
  algorithmSchema.safeExtend(shape),
);

/** Options of {@link RLOOAlgorithm}. They are those of `runRlTraining` and `rollout` (groups of 8). */
export interface RlooOptions extends Omit<z.input<typeof rlooSchema>, 'iterations'> {}

const own = {
  advantage: { baseline: 'leave-one-out', scale: 'none' },
  loss: { surrogate: 'policy-gradient' },
  aggregation: 'sequence-mean-token-sum',
} satisfies AlgorithmOptions;

/** What lies below the caller's options of RLOO. */
export function rlooDefaults(options: WithPreset | undefined): readonly AlgorithmOptions[] {
  const preset = options?.preset;
  const isOwn = preset === undefined || preset === 'rlp';
  return [isOwn ? own : { advantage: own.advantage }, presetOf('rloo', preset)];
}

/**
 * REINFORCE leave-one-out. The baseline of a completion is the mean reward of the others of its group, and nothing is clipped.
 *
 * Sequences are what is averaged over, token losses are summed: the gradient of the reward's expectation without bias.
 *
 * @see Ahmadian et al. 2024, https://arxiv.org/abs/2402.14740
 */
export class RLOOAlgorithm<
  S extends State = State,
  Metadata = unknown,
  Outcome = unknown,
> extends PolicyAlgorithm<S, Metadata, Outcome> {
  /** @throws OptionsError for options outside their ranges and groups of one, ArgumentError for something missing. */
  constructor(dependencies: PolicyDependencies<S, Metadata, Outcome>, options: RlooOptions = {}) {
    super(dependencies, {
      name: 'RLOOAlgorithm',
      optionsType: 'RlooOptions',
      schema: rlooSchema,
      options: layered<AlgorithmOptions>(...rlooDefaults(options), options),
    });
  }
}
