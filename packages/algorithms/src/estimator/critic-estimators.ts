import { type NamedSchema, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { bilevelGae, bilevelGaeSchema } from '../advantage/bilevel-gae.ts';
import { gae, gaeSchema } from '../advantage/gae.ts';
import type { TokenBatch, TokenEstimator } from '../loop/protocol.ts';
import { applyWhitening, whiteningSchema } from './whitening.ts';

const gaeFields = z.strictObject({
  ...gaeSchema.shape,
  /**
   * Value after a trajectory that a limit cut. `'terminal'` is 0, because the limit is part of the task. `'bootstrap'` is the
   * critic's value of the last state, if the task would go on. Default `'terminal'`.
   */
  truncation: z.enum(['terminal', 'bootstrap']).default('terminal'),
  /** Whitens the advantages over the tokens of the iteration, as TRL and verl do. Default `{}`. */
  whitening: whiteningSchema.prefault({}),
});

/** Options of {@link gaeEstimator}, which are those of `gae`, and what comes before and after it. */
export interface GaeEstimatorOptions extends z.input<typeof gaeFields> {}

/** {@link GaeEstimatorOptions} with every default filled in. */
export interface ResolvedGaeEstimatorOptions extends z.output<typeof gaeFields> {}

/** Schema of {@link GaeEstimatorOptions}. */
export const gaeEstimatorSchema: NamedSchema<GaeEstimatorOptions, ResolvedGaeEstimatorOptions> = gaeFields;

/**
 * Generalized advantage estimation along every trajectory's tokens, with a critic. PPO's estimator.
 *
 * Runs across turns and sequences. See `TokenBatch`. The critic learns `A_t + V(s_t)`, before whitening.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function gaeEstimator(options: GaeEstimatorOptions = {}): TokenEstimator {
  const parsed = parseOptions('estimators.gae', gaeEstimatorSchema, options, 'GaeEstimatorOptions');
  const { truncation, whitening, ...own } = parsed;
  return {
    needs: ['values'],
    estimate: ({ owners, rewards, masks, values, finalValues }) => {
      const last = owners.map(({ scored }, b) =>
        truncation === 'bootstrap' && scored.trajectory.status === 'truncated' ? finalValues![b]! : 0,
      );
      const { advantages, returns } = gae({ rewards, values: values!, masks, finalValues: last }, own);
      return { advantages: applyWhitening(advantages, masks, whitening), returns };
    },
  };
}

const bilevelGaeEstimatorSchema = z.strictObject({
  ...bilevelGaeSchema.shape,
  /** Whitens the advantages over the tokens of the iteration. Default `'none'`. */
  whitening: whiteningSchema.default('none'),
});

/** Options of {@link bilevelGaeEstimator}. */
export interface BilevelGaeEstimatorOptions extends z.input<typeof bilevelGaeEstimatorSchema> {}

/**
 * Bi-level GAE, over turns and then over the tokens of each turn, with a critic.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function bilevelGaeEstimator(options: BilevelGaeEstimatorOptions = {}): TokenEstimator {
  const parsed = parseOptions(
    'estimators.bilevelGae',
    bilevelGaeEstimatorSchema,
    options,
    'BilevelGaeEstimatorOptions',
  );
  const { whitening, ...own } = parsed;
  return {
    needs: ['values'],
    estimate: (batch) => {
      const { rewards, masks } = batch;
      const turnEnds = turnEndsOf(batch);
      const { advantages, returns } = bilevelGae({ rewards, masks, turnEnds, values: batch.values! }, own);
      return { advantages: applyWhitening(advantages, masks, whitening), returns };
    },
  };
}

/** 1 on the last trained token of every step. */
function turnEndsOf({ masks, steps }: TokenBatch): Float64Array[] {
  return masks.map((mask, b) => {
    const ends = new Float64Array(mask.length);
    let next = -1;
    for (let t = mask.length - 1; t >= 0; t--) {
      const step = steps[b]![t]!;
      if (mask[t] === 0 || step === next) continue;
      ends[t] = 1;
      next = step;
    }
    return ends;
  });
}
