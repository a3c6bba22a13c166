import { type NamedSchema, parseOptions, withForeignNames } from '@rlp/core';
import * as z from 'zod';
import { maxLengthSchema } from '../supervised/max-length.ts';
import { hasOneLength, oneLength, updateShape } from '../supervised/update-options.ts';
import { passNames } from '../training/foreign-names.ts';
import {
  isSingle,
  type PreferenceLossName,
  type PreferenceTerm,
  preferenceLossNames,
  preferenceTermSchema,
  type ResolvedTerm,
} from './loss-options.ts';

const named = z.enum(preferenceLossNames as [PreferenceLossName, ...PreferenceLossName[]]);
const term = z
  .union([named.transform((kind) => ({ kind })), preferenceTermSchema], {
    error: (issue) =>
      typeof issue.input === 'string'
        ? `must be one of ${preferenceLossNames.join(', ')}; 'sigmoid' is DPO`
        : undefined,
  })
  .pipe(preferenceTermSchema);

/** How long a run is and how it is cut into batches. */
export const passShape = {
  ...updateShape,
  /** Pairs of an update, or sequences for losses over single sequences. Default 16. */
  pairsPerBatch: z.int().min(1).default(16),
  /** Longest sequence, prompt and completion together, and what happens to longer ones. Default: the backend refuses what it cannot take. */
  maxLength: maxLengthSchema.optional(),
};

/** Name of a loss, a term with options, or several terms that are added. */
export type PreferenceLoss = PreferenceLossName | PreferenceTerm | (PreferenceLossName | PreferenceTerm)[];

/** The terms of a {@link PreferenceLoss}. */
export interface PreferenceTerms extends Array<ResolvedTerm> {}

const lossSchema: NamedSchema<PreferenceLoss, PreferenceTerms> = z
  .union([z.array(term).min(1), term.transform((one) => [one])])
  .refine((terms) => terms.every(isSingle) || !terms.some(isSingle), {
    message: 'must not add losses over pairs and losses over single sequences',
  });

const referenceMoves = z.discriminatedUnion('method', [
  z.strictObject({
    /** Does nothing. */
    method: z.literal('none'),
  }),
  z.strictObject({
    /** Moves the reference policy towards the policy, or copies it with `decay` 0. */
    method: z.literal('ema'),
    /** Share of the reference policy that stays, 0 to 1. */
    decay: z.number().min(0).max(1),
    /** Updates between two moves. */
    everyUpdates: z.int().min(1),
  }),
]);

/** Moves the reference policy during a run. */
export type PreferenceReferenceUpdate = z.input<typeof referenceMoves>;

const referenceSchema: NamedSchema<PreferenceReferenceUpdate, PreferenceReferenceUpdate> = referenceMoves;

const schema = z
  .strictObject({
    /** Names the random streams that shuffle the data. Default `'preference'`. */
    seed: z.string().default('preference'),
    /** Name of a loss, a term with options, or several terms that are added. Default `'sigmoid'`, which is DPO. */
    loss: lossSchema.prefault('sigmoid'),
    /** Factor of the log-probabilities beyond the length of the shorter completion, from 0 to 1 (LD-DPO). Default 1. */
    lengthDiscount: z.number().min(0).max(1).default(1),
    /** Moves the reference policy during the run (TR-DPO). Default `{ method: 'none' }`. */
    referenceUpdate: referenceSchema.prefault({ method: 'none' }),
    ...passShape,
  })
  .refine(hasOneLength, oneLength);

/** Schema of {@link PreferenceOptions}. */
export const preferenceSchema = withForeignNames(schema, {
  ...passNames,
  loss: 'loss_type',
  'loss.beta': 'beta',
  referenceUpdate: 'sync_ref_model',
  'referenceUpdate.decay': 'ref_model_mixup_alpha',
  'referenceUpdate.everyUpdates': 'ref_model_sync_steps',
});

/** Options of `runPreferenceTraining`. */
export interface PreferenceOptions extends z.input<typeof preferenceSchema> {}

/** {@link PreferenceOptions} with every default filled in. */
export type ResolvedPreferenceOptions = z.output<typeof preferenceSchema>;

/**
 * Applies the defaults of {@link PreferenceOptions}.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolvePreferenceOptions(options: PreferenceOptions = {}): ResolvedPreferenceOptions {
  return parseOptions('runPreferenceTraining', preferenceSchema, options, 'PreferenceOptions');
}
