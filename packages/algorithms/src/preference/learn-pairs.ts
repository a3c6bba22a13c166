import type { ForwardBackwardResult, Metrics, TokenScores, TrainingBackend } from '@rlp/core';
import { crossEntropy } from '../loss/cross-entropy.ts';
import { differentiatePairs, type PairColumns } from './differentiate.ts';
import { comparesOnePair, joinedLoss, joinedPairs, readsPrompt } from './joined-pairs.ts';
import { comparesInOnePass, type LearnBatch, type Learned, mean } from './learning.ts';
import { type PairTerm, readsReference, type SingleTerm } from './loss-options.ts';
import type { ResolvedPreferenceOptions } from './options.ts';
import type { JudgedPair } from './preferences.ts';
import {
  completionTokens,
  type FactoredRow,
  meanEntropy,
  type RowSums,
  rowSums,
  weightedRow,
} from './row-scores.ts';

/** What a loss over pairs is made of. */
interface PairLearning extends Pick<ResolvedPreferenceOptions, 'lengthDiscount'> {
  readonly terms: readonly PairTerm[];
}

/** Accumulates the gradient of a batch of pairs. */
export async function learnPairs(
  { backend, references, rows }: LearnBatch,
  pairs: readonly JudgedPair[],
  { terms, lengthDiscount }: PairLearning,
): Promise<Learned> {
  const batch = rows.map((row) => pairs[row]!);
  const sides = factoredRows(batch, lengthDiscount);
  const names = [...rows.map((row) => `chosen ${row}`), ...rows.map((row) => `rejected ${row}`)];
  const isJoined = comparesInOnePass(backend, sides) && terms.every(comparesOnePair);
  const reference = !terms.some(readsReference)
    ? new Float64Array(sides.length)
    : isJoined
      ? Float64Array.from(apart(await references.of(backend, inTurn(sides), inTurn(names), 2)))
      : await references.of(backend, sides, names);
  const learn = isJoined ? joinedPass : separatePasses;
  const { pass, value, scores } = await learn({ backend, sides, reference, terms });
  const columns = columnsOf(sides, sumsOf(sides, scores), reference);
  const entropy = meanEntropy(
    sides,
    scores.map(({ entropies }) => entropies),
  );
  return {
    pass,
    metrics: { 'loss/preference': value, ...pairMetrics(terms[0]!, columns), 'entropy/mean': entropy },
  };
}

/** What a pass over a batch of pairs works with. `sides` are those of {@link factoredRows}, and `reference` their scored sums. */
interface PairPass {
  readonly backend: TrainingBackend;
  readonly sides: readonly FactoredRow[];
  readonly reference: Float64Array;
  readonly terms: readonly PairTerm[];
}

/** Result of a pass. `scores` are those of the sides. */
interface PassedPairs {
  readonly pass: ForwardBackwardResult;
  readonly value: number;
  readonly scores: readonly TokenScores[];
}

/** One pass, in which the loss compares both sides of each pair. */
async function joinedPass({ backend, sides, reference, terms }: PairPass): Promise<PassedPairs> {
  const given = columnsOf(
    sides,
    sides.map(() => noSums),
    reference,
  );
  const pass = await backend.forwardBackward(joinedPairs(sides, given, terms), joinedLoss(terms));
  const [logprobs, entropies] = [apart(pass.logprobs), apart(pass.entropies!)];
  const scores = sides.map((_, index) => ({ logprobs: logprobs[index]!, entropies: entropies[index]! }));
  return { pass, value: pass.loss, scores };
}

/** Those of chosen rows and then of rejected ones, as a chosen and a rejected one in turn. */
function inTurn<Value>(values: readonly Value[]): Value[] {
  const count = values.length / 2;
  return values.map((_, place) => values[(place >> 1) + (place & 1) * count]!);
}

/** Reverses {@link inTurn}. */
function apart<Value>(values: ArrayLike<Value>): Value[] {
  const count = values.length / 2;
  return Array.from(values, (_, index) => values[index < count ? 2 * index : 2 * (index - count) + 1]!);
}

/** A pass that scores, and one that learns with the derivative by every sum. */
async function separatePasses({ backend, sides, reference, terms }: PairPass): Promise<PassedPairs> {
  const tokens = sides.map((side) => side.tokens);
  // Those that the reference policy scored, so that rounding of both cancels.
  const masks = sides.map(({ mask }) => mask);
  const scores = await backend.logprobs(tokens, terms.some(readsPrompt) ? {} : { masks });
  const { value, gradients } = differentiatePairs(terms, columnsOf(sides, sumsOf(sides, scores), reference));
  const count = sides.length / 2;
  const sequences = sides.map((side, index) =>
    weightedRow(
      side,
      index < count
        ? {
            scored: gradients.chosen[index]!,
            completion: gradients.completion[index]!,
            sequence: gradients.sequence[index]!,
          }
        : { scored: gradients.rejected[index - count]!, completion: 0, sequence: 0 },
    ),
  );
  return { pass: await backend.forwardBackward({ sequences }, crossEntropy), value, scores };
}

const noSums: RowSums = { scored: 0, completion: 0, sequence: 0 };

function sumsOf(sides: readonly FactoredRow[], scores: readonly TokenScores[]): RowSums[] {
  return sides.map((side, index) => rowSums(side, scores[index]!));
}

/** Chosen rows, then rejected rows. */
export function factoredRows(batch: readonly JudgedPair[], discount: number): FactoredRow[] {
  const shared = batch.map(({ chosen, rejected }) =>
    Math.min(completionTokens(chosen), completionTokens(rejected)),
  );
  return (['chosen', 'rejected'] as const).flatMap((side) =>
    batch.map((pair, index): FactoredRow => ({ ...pair[side], full: shared[index]!, discount })),
  );
}

/** What losses and rewards are computed from: sums of rows that {@link factoredRows} made. */
export function columnsOf(
  sides: readonly FactoredRow[],
  sums: readonly RowSums[],
  reference: Float64Array,
): PairColumns {
  const count = sides.length / 2;
  const first = (of: (index: number) => number) =>
    Float64Array.from({ length: count }, (_, index) => of(index));
  const second = (of: (index: number) => number) => first((index) => of(index + count));
  const tokens = (index: number) => completionTokens(sides[index]!);
  const everywhere = (values: Float64Array) => first(() => mean(values));
  const chosenTokens = first(tokens);
  return {
    chosen: first((index) => sums[index]!.scored),
    rejected: second((index) => sums[index]!.scored),
    referenceChosen: first((index) => reference[index]!),
    referenceRejected: second((index) => reference[index]!),
    chosenTokens,
    rejectedTokens: second(tokens),
    completion: first((index) => sums[index]!.completion),
    meanCompletionTokens: everywhere(chosenTokens),
    sequence: first((index) => sums[index]!.sequence),
    meanSequenceTokens: everywhere(first((index) => sides[index]!.tokens.length - 1)),
  };
}

/** Means over the pairs. Rewards are those that the first term implies. */
function pairMetrics(term: PairTerm, columns: PairColumns): Metrics {
  if (term.kind === 'sft') return logprobsOf(columns);
  const rewards = impliedRewards(term, columns);
  return {
    'reward/chosen': mean(rewards.chosen),
    'reward/rejected': mean(rewards.rejected),
    'reward/margin': mean(rewards.chosen) - mean(rewards.rejected),
    'reward/accuracy': mean(rewards.chosen.map((reward, row) => (reward > rewards.rejected[row]! ? 1 : 0))),
    ...logprobsOf(columns),
  };
}

function logprobsOf({ chosen, rejected }: PairColumns): Metrics {
  return { 'logprobs/chosen': mean(chosen), 'logprobs/rejected': mean(rejected) };
}

/** A term that says how much better one answer is than another. */
type RewardingTerm = SingleTerm | Exclude<PairTerm, { readonly kind: 'sft' }>;

/** `β ln (π/π_ref)` with a reference, `β ln π` without, per token where the loss is. */
export function impliedRewards(term: RewardingTerm, columns: PairColumns) {
  const perToken =
    term.kind === 'simpo' || term.kind === 'orpo' || (term.kind === 'cpo' && term.form === 'ipo');
  const alpha = term.kind === 'simpo' ? term.alpha : 0;
  const reward = (logprobs: Float64Array, reference: Float64Array, tokens: Float64Array) =>
    logprobs.map((logprob, row) => {
      const ratio = (logprob - reference[row]!) / (perToken ? tokens[row]! : 1);
      return term.beta * (alpha === 0 ? ratio : (1 - Math.exp(-alpha * ratio)) / alpha);
    });
  return {
    chosen: reward(columns.chosen, columns.referenceChosen, columns.chosenTokens),
    rejected: reward(columns.rejected, columns.referenceRejected, columns.rejectedTokens),
  };
}
