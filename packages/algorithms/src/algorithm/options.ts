import { rolloutSchema } from '@rlp/rollout';
import * as z from 'zod';
import { rlSchema } from '../loop/options.ts';
import type { AdvantageEstimator, GroupFilter } from '../loop/protocol.ts';
import { algorithmPresets, type PresetName } from './presets.ts';

/** Schema of {@link AlgorithmOptions}. Algorithms extend it with further options. */
export const algorithmSchema = rlSchema.safeExtend({
  /** Not an option here: pass it to `train` or `run`. */
  iterations: z
    .custom<number>(
      () => false,
      'is not an option here; pass it to train({ iterations }) or run({ iterations })',
    )
    .default(100),
  /** How trajectories are sampled; see `RolloutManager`. Default: `{}`. */
  rollout: rolloutSchema.prefault({}),
  /** Groups that it rejects are replaced by groups of further tasks; see `groupFilters`. Default: none are. */
  groupFilter: z.custom<GroupFilter>((value) => typeof value === 'function', 'must be a function').optional(),
});

/** Options that all algorithms share. */
export interface AlgorithmOptions extends Omit<z.input<typeof algorithmSchema>, 'iterations'> {}

/** Schema of an algorithm's `preset`. */
export function presetSchema<Algorithm extends keyof typeof algorithmPresets>(algorithm: Algorithm) {
  return z.enum(Object.keys(algorithmPresets[algorithm]) as (PresetName<Algorithm> & string)[]);
}

/** Schema of an algorithm's `advantages`. */
export const advantagesSchema = z.custom<AdvantageEstimator>(
  (value) =>
    typeof value === 'function' || typeof (value as { estimate?: unknown } | null)?.estimate === 'function',
  'must be an estimator; `estimators` of @rlp/algorithms/advantage has some',
);
