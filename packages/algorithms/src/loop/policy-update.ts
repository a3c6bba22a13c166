import type { Loss, TokenScores, TrainingSequence } from '@rlp/core';
import { policyLoss } from '../loss/policy-loss.ts';
import { isMasked } from '../sequence/is-masked.ts';
import { samplerGap } from '../statistics/diagnostics.ts';
import { isNormalized } from './correction.ts';
import { sharedLoss } from './critic-loss.ts';
import {
  aggregationFactors,
  type Coefficients,
  type Experience,
  sharesModel,
  type UpdateContext,
  valueColumns,
  weightsOf,
} from './experience.ts';
import type { ResolvedRlOptions } from './options.ts';
import { selectedTokens, selectionLossOptions } from './selection.ts';
import { makeUpdates, type Updates } from './updates.ts';

/** The policy's loss of an iteration: which policy the ratio is taken to follows from how many updates there are. */
export function policyLossOf(options: ResolvedRlOptions, { klForm }: Pick<Coefficients, 'klForm'>): Loss {
  const { loss, klAggregation, entropyAggregation, epochs, minibatches, entropyControl, tokenSelection } =
    options;
  const several = epochs * minibatches > 1;
  const anchor = options.proximal ?? (loss.correction === 'none' ? 'behavior' : 'recomputed');
  const proximal = anchor === 'behavior' ? 'behavior' : several ? 'column' : 'current';
  return policyLoss({
    ...loss,
    ...(isNormalized(options) && { correction: 'column' }),
    ...selectionLossOptions(tokenSelection),
    ...((klForm === 'moving' || klAggregation !== undefined) &&
      loss.klCoefficient > 0 && { klCoefficient: 'column' }),
    ...((entropyControl || (entropyAggregation !== undefined && loss.entropyCoefficient !== 0)) && {
      entropyCoefficient: 'column',
    }),
    proximal,
  });
}

/** The policy's updates. None while its critic warms up. */
export async function updatePolicy(
  experience: Experience,
  policy: Loss,
  context: UpdateContext,
): Promise<Updates> {
  const { backend, critic, options, iteration } = context;
  if (iteration < options.critic.warmupIterations) return { passes: [], updates: [], skipped: 0 };
  const isShared = sharesModel({ critic, backend });
  return makeUpdates({
    backend,
    loss: isShared ? sharedLoss(policy, options.critic) : policy,
    count: experience.sequences.length,
    epochs: options.epochs,
    minibatches: options.minibatches,
    stream: [options.seed, 'minibatches', iteration],
    sequencesOf: async (rows, update) => {
      const trained = rows.filter((row) => !isMasked(experience.sequences[row]!.mask));
      const current = await currentScores(experience, trained, update, context);
      if (current !== undefined && isTooFar(experience, trained, current, options)) return 'stop';
      const selection = select(experience, trained, { current, update }, context);
      return policySequences(experience, rows, { ...context, isShared, selection });
    },
  });
}

/** Columns of tokens chosen over one whole update, by the row they belong to. */
type SelectedColumns = ReadonlyMap<number, Readonly<Record<string, ArrayLike<number>>>>;

/** What the policy about to be updated says of a minibatch's tokens, where somebody wants to know. Shape `[B][T]`. */
async function currentScores(
  { sequences, scores }: Experience,
  rows: readonly number[],
  update: number,
  { backend, options, temperature }: UpdateContext,
): Promise<readonly TokenScores[] | undefined> {
  const isWanted = options.tokenSelection.method !== 'none' || options.targetKl !== undefined;
  if (!isWanted || rows.length === 0) return undefined;
  if (update === 0) return rows.map((row) => scores.proximal![row]!);
  return backend.logprobs(
    rows.map((row) => sequences[row]!.tokens),
    { temperature, masks: rows.map((row) => sequences[row]!.mask) },
  );
}

/** Whether the policy is so far from where the iteration found it that it may not move on. */
function isTooFar(
  { sequences, scores }: Experience,
  rows: readonly number[],
  current: readonly TokenScores[],
  { targetKl }: ResolvedRlOptions,
): boolean {
  if (targetKl === undefined) return false;
  const { k3 } = samplerGap({
    trainerLogprobs: current.map(({ logprobs }) => logprobs),
    samplerLogprobs: rows.map((row) => scores.proximal![row]!.logprobs),
    masks: rows.map((row) => sequences[row]!.mask),
  });
  return k3 > 1.5 * targetKl;
}

function select(
  { sequences, advantages, scores }: Experience,
  rows: readonly number[],
  { current, update }: { readonly current: readonly TokenScores[] | undefined; readonly update: number },
  { options, iteration }: UpdateContext,
): SelectedColumns {
  if (options.tokenSelection.method === 'none' || current === undefined) return new Map();
  const inputs = {
    scores: current,
    proximalLogprobs: rows.map((row) => scores.proximal![row]!.logprobs),
    advantages: rows.map((row) => advantages[row]!),
    masks: rows.map((row) => sequences[row]!.mask),
  };
  const selected = selectedTokens(inputs, options, { iteration, update })!;
  return new Map(rows.map((row, index) => [row, { [selected.name]: selected.rows[index]! }]));
}

/** Whether tokens without an advantage have no gradient either: nothing but the surrogate is learned from. */
function isOnlySurrogate({ loss, entropyControl }: ResolvedRlOptions): boolean {
  return (
    loss.klCoefficient === 0 &&
    loss.entropyCoefficient === 0 &&
    loss.proximalKlCoefficient === 0 &&
    entropyControl === undefined
  );
}

/** The rows of one minibatch that can have a gradient, with weights taken over all its rows. */
export function policySequences(
  { sequences, advantages, returns, scores, correctionWeights }: Experience,
  rows: readonly number[],
  context: UpdateContext & { readonly isShared: boolean; readonly selection?: SelectedColumns | undefined },
): TrainingSequence[] {
  const { options, coefficients, temperature, isShared, selection, loss } = context;
  const weights = weightsOf(sequences, rows, options);
  const klFactors = aggregationFactors(sequences, rows, options, options.klAggregation);
  const entropyFactors = aggregationFactors(sequences, rows, options, options.entropyAggregation);
  const ofCritic = isShared ? options.critic.aggregation : undefined;
  const criticFactors = aggregationFactors(sequences, rows, options, ofCritic);
  const needsAdvantage = !isShared && loss === undefined && isOnlySurrogate(options);
  return rows.flatMap((row, index): TrainingSequence[] => {
    const { tokens, mask, behaviorLogprobs } = sequences[row]!;
    if (isMasked(mask)) return [];
    if (needsAdvantage && Array.prototype.every.call(advantages[row], (advantage) => advantage === 0))
      return [];
    const proximal = scores.proximal?.[row]?.logprobs;
    const reference = scores.reference?.[row]?.logprobs;
    const everywhere = (value: number) => new Float64Array(tokens.length).fill(value);
    const columns = {
      advantages: advantages[row]!,
      behaviorLogprobs,
      ...(proximal && { proximalLogprobs: proximal }),
      ...(reference && { referenceLogprobs: reference }),
      ...(coefficients.klForm === 'moving' && { klCoefficients: everywhere(coefficients.kl) }),
      ...(klFactors && { klCoefficients: klFactors[index]!.map((factor) => factor * coefficients.kl) }),
      ...(options.entropyControl && { entropyCoefficients: everywhere(coefficients.entropy) }),
      ...(entropyFactors && {
        entropyCoefficients: entropyFactors[index]!.map((factor) => factor * coefficients.entropy),
      }),
      ...(correctionWeights && { correctionWeights: correctionWeights[row]! }),
      ...selection?.get(row),
      ...(isShared && valueColumns({ returns, scores }, row)),
      ...(criticFactors && { criticFactors: criticFactors[index]! }),
    };
    return [{ tokens, mask, weights: weights[index]!, temperature, columns }];
  });
}
