import { parseOptions, withForeignNames } from '@rlp/core';
import * as z from 'zod';
import { aggregationModes } from '../loss/aggregation.ts';
import { passNames } from '../training/foreign-names.ts';
import { maxLengthSchema } from './max-length.ts';
import { hasOneLength, oneLength, updateShape } from './update-options.ts';

const schema = z
  .strictObject({
    /** Names the random streams that shuffle the examples. Default `'sft'`. */
    seed: z.string().default('sft'),
    ...updateShape,
    /** A batch is full at this many tokens. Off by default. */
    tokensPerBatch: z.int().min(1).optional(),
    /** A batch is full at this many sequences. Default 32. */
    sequencesPerBatch: z.int().min(1).default(32),
    /** Longest sequence, checked before the first update. Default: what the model's context holds, and a longer one is an error. */
    maxLength: maxLengthSchema.optional(),
    /** `'cross-entropy'`, or `'dft'`, which weights each token by its probability. Default `'cross-entropy'`. */
    loss: z.enum(['cross-entropy', 'dft']).default('cross-entropy'),
    /** How token losses are averaged. See `aggregationWeights`. Default `'token-mean'`. */
    aggregation: z.enum(aggregationModes).default('token-mean'),
  })
  .refine(hasOneLength, oneLength);

/** Schema of {@link SftOptions}. */
export const sftSchema = withForeignNames(schema, {
  ...passNames,
  sequencesPerBatch: 'batch_size',
  aggregation: 'loss_agg_mode',
});

/** Options of `runSftTraining`. */
export interface SftOptions extends z.input<typeof sftSchema> {}

/** {@link SftOptions} with every default filled in. */
export type ResolvedSftOptions = z.output<typeof sftSchema>;

/**
 * Applies the defaults of {@link SftOptions}.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveSftOptions(options: SftOptions = {}): ResolvedSftOptions {
  return parseOptions('runSftTraining', sftSchema, options, 'SftOptions');
}
