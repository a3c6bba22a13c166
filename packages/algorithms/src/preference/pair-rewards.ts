import { requireArguments, requireFields, type TrainingBackend } from '@rlp/core';
import { columnsOf, factoredRows, impliedRewards } from './learn-pairs.ts';
import { isSingle, readsReference } from './loss-options.ts';
import { type PreferenceOptions, resolvePreferenceOptions } from './options.ts';
import type { JudgedPair } from './preferences.ts';
import { ReferenceScores } from './reference-scores.ts';
import { rowSums } from './row-scores.ts';

/** Rewards of both completions of each pair, in order. */
export interface PairRewards {
  readonly chosen: Float64Array;
  readonly rejected: Float64Array;
}

/**
 * What a policy thinks of pairs: the rewards that `reward/chosen` and `reward/rejected` are means of, of pairs that need not be trained on.
 *
 *     β ln (π / π_reference)      or β ln π for a loss without a reference, per token where the loss is
 *
 * The first loss that implies a reward counts. Before the first update all rewards against a reference are 0.
 *
 * @param options - The options of the training. `loss`, `lengthDiscount` and `pairsPerBatch` are read.
 */
export async function pairRewards(
  backend: TrainingBackend,
  pairs: readonly JudgedPair[],
  options: PreferenceOptions = {},
): Promise<PairRewards> {
  requireArguments('pairRewards', { backend: 'object', pairs: 'objects' }, backend, pairs);
  requireFields('pairRewards: backend', { logprobs: 'function' }, backend);
  for (const pair of pairs)
    requireFields('pairRewards: pairs', { chosen: 'object', rejected: 'object' }, pair);
  const { loss, lengthDiscount, pairsPerBatch } = resolvePreferenceOptions(options);
  const term = loss.find(({ kind }) => kind !== 'sft') ?? loss[0]!;
  const rewards: PairRewards = {
    chosen: new Float64Array(pairs.length),
    rejected: new Float64Array(pairs.length),
  };
  for (let from = 0; from < pairs.length; from += pairsPerBatch) {
    const sides = factoredRows(pairs.slice(from, from + pairsPerBatch), lengthDiscount);
    const masks = sides.map(({ mask }) => mask);
    const scores = await backend.logprobs(
      sides.map(({ tokens }) => tokens),
      { masks },
    );
    const reference = readsReference(term)
      ? await new ReferenceScores().of(
          backend,
          sides,
          sides.map(() => undefined),
        )
      : new Float64Array(sides.length);
    const sums = sides.map((side, index) => rowSums(side, scores[index]!));
    const columns = columnsOf(sides, sums, reference);
    const implied = isSingle(term) || term.kind !== 'sft' ? impliedRewards(term, columns) : columns;
    rewards.chosen.set(implied.chosen, from);
    rewards.rejected.set(implied.rejected, from);
  }
  return rewards;
}
