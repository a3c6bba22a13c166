import {
  ArgumentError,
  described,
  type Loss,
  type RecordedTrajectory,
  type StepTrace,
  type TokenSequence,
  type TrainingBackend,
  type Trajectory,
} from '@rlp/core';
import { explainedVariance } from '../statistics/diagnostics.ts';
import { maskedMean } from '../statistics/masked.ts';
import { correctionWeights, isNormalized } from './correction.ts';
import { updateCritic } from './critic-update.ts';
import { tokenEstimator } from './estimate.ts';
import type { Experience, UpdateContext } from './experience.ts';
import type { ResolvedRlOptions } from './options.ts';
import { policyLossOf, updatePolicy } from './policy-update.ts';
import type { AdvantageEstimator, ScoredGroup, TokenEstimate } from './protocol.ts';
import { type AnchorStatistics, anchorStatistics, recordedTrajectories } from './recorded-trajectories.ts';
import { type Score, type Scores, scoreSequences } from './scores.ts';
import { tokenBatch } from './token-batch.ts';
import { scatterRows, type TrajectoryRows, trajectoryRows } from './trajectory-rows.ts';
import type { Updates } from './updates.ts';

/** What learning needs besides the groups. */
export interface LearnContext<Metadata = unknown> extends UpdateContext {
  readonly estimator: AdvantageEstimator<Metadata>;
  readonly greedyRewards?: readonly (number | null)[] | undefined;
  /** Ends it before the first update. Afterwards it is not heeded. */
  readonly signal?: AbortSignal | undefined;
  /** Takes what was known of each trajectory before the first update. Default none. */
  readonly onLearned?: ((record: RecordedTrajectory) => void) | undefined;
}

/** Results of an iteration's updates, and what was there before them. Means are over trained tokens. */
export interface LearnResult {
  readonly policy: Updates;
  /** Of a separate critic. */
  readonly critic?: Updates | undefined;
  readonly trajectories: number;
  /** Mean k3 to the reference, in nats, where it was asked for. */
  readonly referenceKl?: number | undefined;
  /** Mean KL that was taken off the rewards, before its coefficient, in nats. */
  readonly rewardKl?: number | undefined;
  /** Mean entropy of the policy, in nats, where the trainer computed logprobs. */
  readonly entropy?: number | undefined;
  /** Mean of −behaviorLogprobs: an unbiased estimate of the entropy, in nats. Absent if nothing was trained. */
  readonly surprise?: number | undefined;
  /** How far steps were compared with others from their state, if the estimator does that. */
  readonly anchors?: AnchorStatistics | undefined;
  /** Share of the returns' variance that the critic explains, absent if they hardly vary, and means of both. */
  readonly values?:
    | { readonly explained: number | undefined; readonly mean: number; readonly returns: number }
    | undefined;
}

/**
 * Learns from an iteration's groups: sequences, what the estimator and the loss need to know of their tokens, advantages,
 * the critic's updates, the policy's.
 *
 * @throws TrainingError when a loss or gradient is not finite; updates before it stay. The signal's reason, before any update.
 */
export async function learn<Metadata>(
  groups: readonly ScoredGroup<Metadata>[],
  context: LearnContext<Metadata>,
): Promise<LearnResult> {
  const { options, coefficients, greedyRewards, signal } = context;
  const traces = new Map<Trajectory, readonly StepTrace[]>();
  const estimator = tokenEstimator(context.estimator, options.rewardKl?.place, {
    onTrace: ({ trajectory }, trace) => traces.set(trajectory, trace),
  });
  const rows = trajectoryRows(groups, options);
  const { sequences } = rows;
  requireKnownTokens(rows, context.backend);
  const loss = context.loss ?? policyLossOf(options, coefficients);
  const scores = await scoreSequences(sequences, wantedScores(estimator.needs ?? [], loss, options), context);
  signal?.throwIfAborted();
  const parts = { groups, rows, scores, greedyRewards, klCoefficient: coefficients.kl };
  const { batch, kl } = tokenBatch(parts, options);
  // Episodes that were cut before the policy answered have rewards and no tokens.
  const nothing: TokenEstimate = { advantages: rows.parts.map(() => []) };
  const estimate = sequences.length === 0 ? nothing : checkedEstimate(estimator.estimate(batch));
  const experience: Experience = {
    sequences,
    scores,
    advantages: scatterRows('advantages', rows, estimate.advantages),
    returns: estimate.returns && scatterRows('returns', rows, estimate.returns),
    correctionWeights: correctionWeights({ sequences, scores }, options),
  };
  tellOf({ batch, advantages: estimate.advantages, traces }, context);
  const critic = await updateCritic(experience, context);
  const policy = await updatePolicy(experience, loss, context);
  return {
    policy,
    critic,
    trajectories: batch.owners.length,
    ...beforeUpdates(sequences, scores),
    rewardKl: kl && maskedMean(kl, batch.masks),
    values: valuesOf(experience),
    anchors: anchorStatistics(traces),
  };
}

/** @throws ArgumentError for a token that the policy does not have: the sampler was of another model. */
function requireKnownTokens<Metadata>(
  { sequences, owners, parts }: TrajectoryRows<Metadata>,
  { vocabularySize = Number.POSITIVE_INFINITY }: TrainingBackend,
): void {
  for (const [index, { tokens }] of sequences.entries()) {
    const at = tokens.findIndex(
      (token) => !(Number.isInteger(token) && token >= 0 && token < vocabularySize),
    );
    if (at < 0) continue;
    const owner = owners[parts.findIndex((row) => row.some(({ sequence }) => sequence === index))];
    throw new ArgumentError(
      `trajectory ${owner?.scored.trajectory.id ?? ''}: token ${tokens[at]} at position ${at} is outside the vocabulary of the backend, ` +
        `which has ${vocabularySize} tokens; sample from the model that is trained`,
    );
  }
}

function checkedEstimate(estimate: TokenEstimate): TokenEstimate {
  const given: unknown = estimate;
  if (typeof given === 'object' && given !== null && 'advantages' in given) return estimate;
  throw new ArgumentError(
    `advantages: expected the estimator to return { advantages }, got ${described(given)}`,
  );
}

/** Reports each trajectory, if somebody listens. */
function tellOf<Metadata>(
  learned: Omit<Parameters<typeof recordedTrajectories>[0], 'iteration'>,
  { onLearned, iteration }: LearnContext<Metadata>,
): void {
  if (onLearned === undefined) return;
  for (const record of recordedTrajectories({ ...learned, iteration })) onLearned(record);
}

function wantedScores(needs: readonly string[], { columns }: Loss, options: ResolvedRlOptions): Set<Score> {
  const { referenceKl, rewardKl, entropyControl, tokenSelection, targetKl, critic } = options;
  const wanted = new Set<Score>();
  const reads = (column: string) => needs.includes(column) || columns.includes(column);
  if (referenceKl === 'always' || rewardKl !== undefined || reads('referenceLogprobs'))
    wanted.add('reference');
  if (wanted.has('reference') || reads('proximalLogprobs') || reads('entropies')) wanted.add('proximal');
  if (entropyControl !== undefined || tokenSelection.method !== 'none') wanted.add('proximal');
  if (targetKl !== undefined || isNormalized(options)) wanted.add('proximal');
  if (reads('values') || (critic.clip !== undefined && needs.includes('values'))) wanted.add('values');
  return wanted;
}

/** What the policy was before the first update, as means over trained tokens. */
function beforeUpdates(
  sequences: readonly TokenSequence[],
  { proximal, reference }: Scores,
): Pick<LearnResult, 'referenceKl' | 'entropy' | 'surprise'> {
  const totals = { count: 0, kl: 0, entropy: 0, surprise: 0 };
  for (const [row, { mask, behaviorLogprobs }] of sequences.entries()) {
    for (const [t, counts] of mask.entries()) {
      if (counts === 0) continue;
      totals.count += 1;
      totals.surprise -= behaviorLogprobs[t]!;
      totals.entropy += proximal?.[row]?.entropies[t] ?? 0;
      if (reference === undefined || proximal === undefined) continue;
      const difference = reference[row]!.logprobs[t]! - proximal[row]!.logprobs[t]!;
      totals.kl += Math.exp(difference) - difference - 1;
    }
  }
  const { count } = totals;
  if (count === 0) return {};
  return {
    surprise: totals.surprise / count,
    entropy: proximal && totals.entropy / count,
    referenceKl: reference && totals.kl / count,
  };
}

/** How good the critic was before the updates. */
function valuesOf({ sequences, returns, scores }: Experience): LearnResult['values'] {
  if (scores.values === undefined || returns === undefined) return undefined;
  const values = scores.values.map((row, index) => Array.from(row).slice(0, sequences[index]!.tokens.length));
  const masks = sequences.map(({ mask }) => mask);
  return {
    explained: explainedVariance({ values, returns, masks }),
    mean: maskedMean(values, masks),
    returns: maskedMean(returns, masks),
  };
}
