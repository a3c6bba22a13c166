import type { TokenSequence } from '@rlp/core';
import { matrixFromRows, matrixRows, Tape } from '@rlp/tensor';
import { klEstimate } from '../loss/kl-estimate.ts';
import type { TokenRows } from '../statistics/token-rows.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { ScoredGroup, TokenBatch, TokenOwner } from './protocol.ts';
import type { Scores } from './scores.ts';
import { gatherRows, type TrajectoryRows } from './trajectory-rows.ts';

/** What an iteration's batch is made of. */
export interface BatchParts<Metadata = unknown> {
  readonly groups: readonly ScoredGroup<Metadata>[];
  readonly rows: TrajectoryRows<Metadata>;
  readonly scores: Scores;
  readonly greedyRewards?: readonly (number | null)[] | undefined;
  /** Coefficient of the KL in the reward. */
  readonly klCoefficient: number;
}

/** The batch that estimators see, and the KL that was taken off its rewards, where it was. */
export function tokenBatch<Metadata>(
  { groups, rows, scores, greedyRewards, klCoefficient }: BatchParts<Metadata>,
  { rewardKl }: Pick<ResolvedRlOptions, 'rewardKl'>,
): { readonly batch: TokenBatch<Metadata>; readonly kl?: Float64Array[] | undefined } {
  const { owners } = rows;
  const own = (read: (sequence: TokenSequence) => ArrayLike<number>) =>
    gatherRows(rows, rows.sequences.map(read));
  const gather = (ofSequences: TokenRows | undefined) => ofSequences && gatherRows(rows, ofSequences);
  const [masks, steps] = [own(({ mask }) => mask), own((sequence) => sequence.steps)];
  const proximalLogprobs = gather(scores.proximal?.map(({ logprobs }) => logprobs));
  const referenceLogprobs = gather(scores.reference?.map(({ logprobs }) => logprobs));
  const kl =
    rewardKl &&
    proximalLogprobs &&
    referenceLogprobs &&
    klRows(proximalLogprobs, referenceLogprobs, rewardKl);
  const penalties = kl?.map((row, b) =>
    row.map((value, t) => (masks[b]![t] === 0 ? 0 : klCoefficient * value)),
  );
  const earned = owners.map((owner, b) => rewardsOfRow(owner, steps[b]!));
  const batch: TokenBatch<Metadata> = {
    groups,
    owners,
    masks,
    steps,
    tokens: own(({ tokens }) => tokens),
    rewards: penalties ? earned.map((row, b) => row.map((reward, t) => reward - penalties[b]![t]!)) : earned,
    penalties,
    behaviorLogprobs: own(({ behaviorLogprobs }) => behaviorLogprobs),
    values: gather(scores.values),
    finalValues: scores.values && finalValues(rows, scores.values),
    proximalLogprobs,
    entropies: gather(scores.proximal?.map(({ entropies }) => entropies)),
    referenceLogprobs,
    greedyRewards,
  };
  return { batch, kl };
}

/** A step's reward on its last token, the trajectory's on the last of all. A step without a reward adds nothing. */
function rewardsOfRow({ scored }: TokenOwner, steps: Float64Array): Float64Array {
  const rewards = new Float64Array(steps.length);
  if (steps.length === 0) return rewards;
  for (const [index, { reward }] of scored.trajectory.steps.entries()) {
    if (reward !== undefined) rewards[lastTokenOf(index, steps)]! += reward;
  }
  rewards[steps.length - 1]! += scored.reward ?? 0;
  return rewards;
}

/** The last token up to a step: its own, or that of the step before where it has none that is trained. */
function lastTokenOf(step: number, steps: Float64Array): number {
  return Math.max(
    0,
    steps.findLastIndex((at) => at >= 0 && at <= step),
  );
}

function finalValues({ parts }: TrajectoryRows, values: TokenRows): Float64Array {
  return Float64Array.from(parts, (row) => {
    const last = row.at(-1);
    return last === undefined ? 0 : values[last.sequence]![last.to]!;
  });
}

function klRows(
  logprobs: TokenRows,
  referenceLogprobs: TokenRows,
  { estimator, limit }: NonNullable<ResolvedRlOptions['rewardKl']>,
): Float64Array[] {
  const tape = new Tape();
  const inputs = {
    logprobs: tape.data(matrixFromRows(logprobs)),
    referenceLogprobs: tape.data(matrixFromRows(referenceLogprobs)),
  };
  const kl = matrixRows(klEstimate(tape, inputs, { estimator, limit }));
  return kl.map((row, b) => row.subarray(0, logprobs[b]!.length));
}
