import { ArgumentError, type TrainingSequence } from '@rlp/core';
import { isMasked } from '../sequence/is-masked.ts';
import { criticLoss } from './critic-loss.ts';
import { type Experience, sharesModel, type UpdateContext, valueColumns, weightsOf } from './experience.ts';
import { makeUpdates, type Updates } from './updates.ts';

/**
 * Updates of a separate critic. `undefined` without one.
 *
 * @throws ArgumentError when there is a critic and nothing for it to learn.
 */
export async function updateCritic(
  { sequences, returns, scores }: Experience,
  { backend, critic, options, iteration, temperature }: UpdateContext,
): Promise<Updates | undefined> {
  if (critic === undefined) return undefined;
  if (returns === undefined && sequences.length > 0) {
    throw new ArgumentError(
      'runRlTraining: there is a critic, but the advantage estimator gives no returns for it to learn; ' +
        'take one that does, such as estimators.gae(), or leave the critic out',
    );
  }
  if (sharesModel({ critic, backend })) return undefined;
  const { epochs = options.epochs, minibatches = options.minibatches } = options.critic;
  return makeUpdates({
    backend: critic,
    loss: criticLoss(options.critic),
    count: sequences.length,
    epochs,
    minibatches,
    stream: [options.seed, 'critic-minibatches', iteration],
    sequencesOf: (rows) => criticSequences({ sequences, returns, scores }, rows, { options, temperature }),
  });
}

/** Rows of one minibatch that a separate critic learns from, with weights taken over all its rows. */
export function criticSequences(
  { sequences, returns, scores }: Pick<Experience, 'sequences' | 'returns' | 'scores'>,
  rows: readonly number[],
  { options, temperature }: Pick<UpdateContext, 'options' | 'temperature'>,
): TrainingSequence[] {
  const weights = weightsOf(sequences, rows, options, options.critic.aggregation);
  return rows.flatMap((row, index): TrainingSequence[] => {
    const { tokens, mask } = sequences[row]!;
    if (isMasked(mask)) return [];
    const columns = valueColumns({ returns, scores }, row);
    return [{ tokens, mask, weights: weights[index]!, temperature, columns }];
  });
}
