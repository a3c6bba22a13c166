import { callback, type NamedSchema } from '@rlp/core';
import { type ResolvedRolloutOptions, type RolloutOptions, rolloutSchema } from '@rlp/rollout';
import * as z from 'zod';
import { rlSchema } from '../loop/options.ts';
import type { GroupFilter } from '../loop/protocol.ts';
import { algorithmPresets, type PresetName } from './presets.ts';

/**
 * A schema with further fields. A declared schema of this type names what it extends: an inferred one would repeat all of it in
 * the published declarations.
 */
export type ExtendedSchema<Base extends z.ZodObject, Added extends z.ZodRawShape> = z.ZodObject<
  z.util.Extend<Base['shape'], Added>,
  z.core.$strict
>;

const namedRollout: NamedSchema<RolloutOptions, ResolvedRolloutOptions> = rolloutSchema;

const shape = {
  /** Not an option here: pass it to `train` or `run`. */
  iterations: z
    .custom<number>(
      () => false,
      'is not an option here; pass it to train({ iterations }) or run({ iterations })',
    )
    .default(100),
  /** How trajectories are sampled. See `RolloutManager`. Default `{}`. */
  rollout: namedRollout.prefault({}),
  /** Groups that it rejects are replaced by groups of further tasks. See `groupFilters`. Default none. */
  groupFilter: callback<GroupFilter>().optional(),
};

/** Schema of {@link AlgorithmOptions}. Algorithms extend it with further options. */
export const algorithmSchema: ExtendedSchema<typeof rlSchema, typeof shape> = rlSchema.safeExtend(shape);

interface Grouped {
  readonly rollout: { readonly groupSize: number };
}

/**
 * The schema of an algorithm whose advantages compare the members of a group: it refuses groups of one.
 *
 * @param isComparing - Whether it compares with these options. Default: always.
 */
export function comparingGroups<Schema extends z.ZodType<Grouped>>(
  schema: Schema,
  isComparing: (options: z.output<Schema>) => boolean = () => true,
): Schema {
  return schema.refine((options) => options.rollout.groupSize > 1 || !isComparing(options), {
    path: ['rollout', 'groupSize'],
    message: 'must be at least 2: a completion alone in its group has advantage 0 and teaches nothing',
  });
}

/** Schema of algorithms that compare the members of a group and have no further options. */
export const groupSchema = comparingGroups(algorithmSchema);

/** Options that all algorithms share. */
export interface AlgorithmOptions extends Omit<z.input<typeof algorithmSchema>, 'iterations'> {}

/** Schema of an algorithm's `preset`. */
export function presetSchema<Algorithm extends keyof typeof algorithmPresets>(
  algorithm: Algorithm,
): z.ZodEnum<{ [Name in PresetName<Algorithm> & string]: Name }> {
  return z.enum(Object.keys(algorithmPresets[algorithm]) as (PresetName<Algorithm> & string)[]);
}
