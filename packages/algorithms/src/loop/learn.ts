import {
  type ForwardBackwardResult,
  type Loss,
  type OptimStepResult,
  RandomStream,
  type TokenScores,
  type TrainFuture,
  type TrainingBackend,
  type TrainingSequence,
} from '@rlp/core';
import { aggregationWeights } from '../aggregation.ts';
import { policyLoss } from '../loss/policy-loss.ts';
import type { Experience } from './experience.ts';
import type { ResolvedRlOptions } from './options.ts';

/** What learning needs besides the experience. */
export interface LearnContext {
  readonly backend: TrainingBackend;
  readonly options: ResolvedRlOptions;
  readonly iteration: number;
  /** Of sampling; the trainer computes its logprobs at the same. */
  readonly temperature: number;
  /** Ends it before the first update; afterwards it is not heeded. */
  readonly signal?: AbortSignal | undefined;
}

/** What came of an iteration's updates. */
export interface LearnResult {
  readonly passes: readonly ForwardBackwardResult[];
  readonly updates: readonly OptimStepResult[];
  /** Mean k3 to the reference before the first update, in nats, where it was asked for. */
  readonly referenceKl?: number | undefined;
  /** Mean entropy of the policy before the first update, in nats, where the trainer computed logprobs. */
  readonly entropy?: number | undefined;
  /** Mean of −behaviorLogprobs over sampled tokens: an unbiased estimate of the entropy, in nats. */
  readonly surprise: number;
}

interface Columns {
  readonly proximalLogprobs?: readonly TokenScores[] | undefined;
  readonly referenceLogprobs?: readonly TokenScores[] | undefined;
}

/** The loss of an iteration: which policy the ratio is taken to follows from how many updates there are. */
function lossOf({ loss, epochs, minibatches }: ResolvedRlOptions): Loss {
  const several = epochs * minibatches > 1;
  const proximal = loss.correction === 'none' ? 'behavior' : several ? 'column' : 'current';
  return policyLoss({ ...loss, proximal });
}

/**
 * Makes the updates of one iteration: `epochs` passes over the experience, cut into `minibatches` updates each.
 *
 * Columns that the loss needs are computed before the first update. An update is applied only once its gradient is known to
 * be finite; the next pass is submitted behind it without waiting. Minibatches without any gradient make no update.
 *
 * @throws TrainingError when a loss or gradient is not finite; updates before it stay. The signal's reason, before any update.
 */
export async function learn(experience: readonly Experience[], context: LearnContext): Promise<LearnResult> {
  const { backend, options, iteration } = context;
  const loss = lossOf(options);
  const columns = await computeColumns(experience, loss, context);
  context.signal?.throwIfAborted();
  const passes: ForwardBackwardResult[] = [];
  const updates: TrainFuture<OptimStepResult>[] = [];
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    const order = RandomStream.named(options.seed, 'minibatches', iteration, epoch).shuffle([
      ...experience.keys(),
    ]);
    for (const rows of split(order, options.minibatches)) {
      const sequences = trainingSequences(experience, rows, columns, context);
      if (sequences.length === 0) continue;
      passes.push(await backend.forwardBackward({ sequences }, loss));
      updates.push(backend.optimStep());
    }
  }
  return {
    passes,
    updates: await Promise.all(updates),
    ...beforeUpdates(experience, columns),
  };
}

async function computeColumns(
  experience: readonly Experience[],
  loss: Loss,
  { backend, options, temperature, signal }: LearnContext,
): Promise<Columns> {
  if (experience.length === 0) return {};
  const tokens = experience.map(({ sequence }) => sequence.tokens);
  const wantsReference = options.referenceKl === 'always' || loss.columns.includes('referenceLogprobs');
  const wantsProximal = wantsReference || loss.columns.includes('proximalLogprobs');
  const scoring = { temperature, ...(signal && { signal }) };
  const [proximalLogprobs, referenceLogprobs] = await Promise.all([
    wantsProximal ? backend.logprobs(tokens, scoring) : undefined,
    wantsReference ? backend.logprobs(tokens, { ...scoring, policy: 'reference' }) : undefined,
  ]);
  return { proximalLogprobs, referenceLogprobs };
}

/** The rows of one minibatch that can have a gradient, with weights taken over all its rows. */
function trainingSequences(
  experience: readonly Experience[],
  rows: readonly number[],
  columns: Columns,
  { options, temperature }: LearnContext,
): TrainingSequence[] {
  const weights = aggregationWeights(
    rows.map((row) => experience[row]!.sequence.mask),
    { mode: options.aggregation, constant: options.aggregationConstant },
  );
  const { klCoefficient, entropyCoefficient } = options.loss;
  const onlySurrogate = klCoefficient === 0 && entropyCoefficient === 0;
  return rows.flatMap((row, index) => {
    const { sequence, advantages } = experience[row]!;
    const { tokens, mask, behaviorLogprobs } = sequence;
    if (mask.every((counts) => counts === 0)) return [];
    if (onlySurrogate && advantages.every((advantage) => advantage === 0)) return [];
    const proximal = columns.proximalLogprobs?.[row]?.logprobs;
    const reference = columns.referenceLogprobs?.[row]?.logprobs;
    return {
      tokens,
      mask,
      weights: weights[index]!,
      temperature,
      columns: {
        advantages,
        behaviorLogprobs,
        ...(proximal && { proximalLogprobs: proximal }),
        ...(reference && { referenceLogprobs: reference }),
      },
    };
  });
}

/** What the policy was before the first update, as means over sampled tokens. */
function beforeUpdates(
  experience: readonly Experience[],
  { proximalLogprobs, referenceLogprobs }: Columns,
): Pick<LearnResult, 'referenceKl' | 'entropy' | 'surprise'> {
  const totals = { count: 0, kl: 0, entropy: 0, surprise: 0 };
  for (const [row, { sequence }] of experience.entries()) {
    for (const [t, counts] of sequence.mask.entries()) {
      if (counts === 0) continue;
      totals.count += 1;
      totals.surprise -= sequence.behaviorLogprobs[t]!;
      totals.entropy += proximalLogprobs?.[row]?.entropies[t] ?? 0;
      if (referenceLogprobs === undefined || proximalLogprobs === undefined) continue;
      const difference = referenceLogprobs[row]!.logprobs[t]! - proximalLogprobs[row]!.logprobs[t]!;
      totals.kl += Math.exp(difference) - difference - 1;
    }
  }
  const count = Math.max(1, totals.count);
  return {
    surprise: totals.surprise / count,
    entropy: proximalLogprobs && totals.entropy / count,
    referenceKl: referenceLogprobs && totals.kl / count,
  };
}

/** `parts` slices of nearly equal length, in order; fewer when there are not enough items. */
function split<Item>(items: readonly Item[], parts: number): Item[][] {
  const count = Math.min(parts, items.length);
  return Array.from({ length: count }, (_, part) =>
    items.slice(Math.floor((part * items.length) / count), Math.floor(((part + 1) * items.length) / count)),
  );
}
