import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { type BilevelGaeOptions, bilevelGae } from '../advantage/bilevel-gae.ts';
import { type GaeOptions, gae } from '../advantage/gae.ts';
import type { TokenBatch, TokenEstimator } from '../loop/protocol.ts';
import { applyWhitening, requireWhitening, type Whitening } from './whitening.ts';

const schema = z.strictObject({ truncation: z.enum(['terminal', 'bootstrap']).default('terminal') });

/** Options of {@link gaeEstimator}: those of `gae`, and what comes before and after it. */
export interface GaeEstimatorOptions extends GaeOptions {
  /**
   * Value after a trajectory that a limit cut. `'terminal'` is 0: the limit is part of the task. `'bootstrap'` is the critic's
   * value of the last state, if the task would go on. Default `'terminal'`.
   */
  readonly truncation?: 'terminal' | 'bootstrap' | undefined;
  /** Whitens the advantages over the tokens of the iteration, as TRL and verl do. Default: `{}`. */
  readonly whitening?: Whitening | undefined;
}

/**
 * Generalized advantage estimation along every trajectory's tokens, with a critic: PPO's estimator.
 *
 * Runs across turns and sequences; see `TokenBatch`. The critic learns `A_t + V(s_t)`, before whitening.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function gaeEstimator(options: GaeEstimatorOptions = {}): TokenEstimator {
  const { truncation: given, whitening = {}, ...own } = options;
  const { truncation } = parseOptions('estimators.gae', schema, { truncation: given });
  gae({ rewards: [], values: [] }, own); // checks the options
  requireWhitening(whitening);
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

/** Options of {@link bilevelGaeEstimator}. */
export interface BilevelGaeEstimatorOptions extends BilevelGaeOptions {
  /** Whitens the advantages over the tokens of the iteration. Default `'none'`. */
  readonly whitening?: Whitening | undefined;
}

/**
 * Bi-level GAE, over turns and then over the tokens of each turn, with a critic.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function bilevelGaeEstimator(options: BilevelGaeEstimatorOptions = {}): TokenEstimator {
  const { whitening = 'none', ...own } = options;
  bilevelGae({ rewards: [], values: [], masks: [], turnEnds: [] }, own); // checks the options
  requireWhitening(whitening);
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
