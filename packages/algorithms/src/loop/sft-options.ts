import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { aggregationModes } from '../aggregation.ts';

const sftSchema = z
  .strictObject({
    seed: z.string().default('sft'),
    epochs: z.number().positive().optional(),
    updates: z.int().min(1).optional(),
    tokensPerBatch: z.int().min(1).optional(),
    sequencesPerBatch: z.int().min(1).default(32),
    aggregation: z.enum(aggregationModes).default('token-mean'),
  })
  .refine(({ epochs, updates }) => epochs === undefined || updates === undefined, {
    path: ['updates'],
    message: 'must not be given together with epochs: both say how long the run is',
  });

/**
 * Options of `runSftTraining`.
 *
 * - `seed` (`'sft'`): names the streams that shuffle the examples, one per epoch.
 * - `epochs` (1) or `updates`: the length of the run.
 * - `sequencesPerBatch` (32), `tokensPerBatch` (no limit): a batch is full when either is reached.
 * - `aggregation` (`'token-mean'`): see `aggregationWeights`.
 */
export type SftOptions = z.input<typeof sftSchema>;

/** {@link SftOptions} with every default filled in. */
export type ResolvedSftOptions = z.output<typeof sftSchema>;

/**
 * Applies the defaults of {@link SftOptions}.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveSftOptions(options: SftOptions = {}): ResolvedSftOptions {
  return parseOptions('runSftTraining', sftSchema, options);
}
