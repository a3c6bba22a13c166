import { defineLoss, type Loss, type TrainingBatch, type TrainingSequence } from '@rlp/core';
import type { PairColumns } from './differentiate.ts';
import type { PairTerm } from './loss-options.ts';
import { scaled } from './pair-losses.ts';
import { pairLoss } from './preference-losses.ts';
import { atFirstToken, type FactoredRow, readTokens, tokenFactors } from './row-scores.ts';

/** Sums over a row's log-probabilities. Their columns hold the factor of each token. */
const sums = ['chosen', 'rejected', 'completion', 'sequence'] as const;
/** Numbers of a pair. Their columns hold it at the first token that the loss reads, and 0 elsewhere. */
const numbers = [
  'referenceChosen',
  'referenceRejected',
  'chosenTokens',
  'rejectedTokens',
  'meanCompletionTokens',
  'meanSequenceTokens',
] as const;
const columnNames = [...sums, ...numbers];

/** Whether a term compares the two sides of one pair, and not those of other pairs. */
export function comparesOnePair({ kind }: PairTerm): boolean {
  return kind !== 'aot' && kind !== 'aot-unpaired';
}

/** The weighted sum of the terms, over rows that {@link joinedPairs} made. */
export function joinedLoss(terms: readonly PairTerm[]): Loss {
  return defineLoss({
    key: `pairs ${JSON.stringify(terms)}`,
    columns: columnNames,
    entropies: 'needed',
    sequencesPerRow: 2,
    compute(ops, { logprobs, mask, columns }) {
      const sum = (name: (typeof sums)[number]) => ops.rowSum(ops.mul(logprobs, columns[name]));
      const number = (name: (typeof numbers)[number]) => ops.rowSum(columns[name]);
      const pair = {
        chosen: sum('chosen'),
        rejected: sum('rejected'),
        completion: sum('completion'),
        sequence: sum('sequence'),
        referenceChosen: number('referenceChosen'),
        referenceRejected: number('referenceRejected'),
        chosenTokens: number('chosenTokens'),
        rejectedTokens: number('rejectedTokens'),
        meanCompletionTokens: number('meanCompletionTokens'),
        meanSequenceTokens: number('meanSequenceTokens'),
      };
      const losses = terms
        .map((term) => scaled(ops, term.weight, pairLoss(ops, pair, term)))
        .reduce((total, loss) => ops.add(total, loss));
      return { tokenLosses: ops.mul(mask, losses) };
    },
  });
}

/**
 * Chosen and rejected sequences of pairs, in turn. The weights average the loss over the pairs.
 *
 * @param sides - Chosen sequences, then rejected ones.
 * @param given - The numbers of the pairs. Sums are not read.
 */
export function joinedPairs(
  sides: readonly FactoredRow[],
  given: PairColumns,
  terms: readonly PairTerm[],
): TrainingBatch {
  const count = sides.length / 2;
  const scope = terms.some(readsPrompt) ? 'sequence' : 'completion';
  const sequences = Array.from({ length: count }, (_, row) => [
    chosenSequence(sides[row]!, scope, { given, row }),
    rejectedSequence(sides[count + row]!),
  ]);
  return { sequences: sequences.flat() };
}

function chosenSequence(
  side: FactoredRow,
  scope: 'completion' | 'sequence',
  { given, row }: { readonly given: PairColumns; readonly row: number },
): TrainingSequence {
  const mask = readTokens(side, scope);
  const atFirst = (value: number) => atFirstToken(mask, value);
  const { scored, completion, sequence } = tokenFactors(side);
  const columns = {
    ...noColumns(mask.length),
    ...{ chosen: scored, completion, sequence },
    ...Object.fromEntries(numbers.map((name) => [name, atFirst(given[name][row]!)])),
  };
  return { tokens: side.tokens, mask, weights: atFirst(1 / given.chosen.length), columns };
}

function rejectedSequence(side: FactoredRow): TrainingSequence {
  const { tokens, mask } = side;
  const columns = { ...noColumns(tokens.length), rejected: tokenFactors(side).scored };
  return { tokens, mask, weights: new Float64Array(tokens.length), columns };
}

function noColumns(length: number): Record<(typeof columnNames)[number], Float64Array> {
  const zeros = new Float64Array(length);
  return Object.fromEntries(columnNames.map((name) => [name, zeros])) as ReturnType<typeof noColumns>;
}

/** Whether a term reads the log-probability of the prompt. */
export function readsPrompt(term: PairTerm): boolean {
  return 'imitated' in term && term.imitated === 'sequence' && term.imitation !== 0;
}
