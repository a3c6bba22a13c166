import type { JudgedPair } from '@rlp/algorithms/preference';
import type { Loss, TrainingSequence } from '@rlp/core';
import { pairLength } from '../data/pairs.ts';

/** What the estimate of memory depends on. */
export interface LargestUpdate extends Pick<Loss, 'sequencesPerRow'> {
  readonly sequences: readonly Pick<TrainingSequence, 'tokens' | 'mask'>[];
}

/** The longest of what a stage learns from. */
export function longest<Item>(
  items: readonly Item[],
  count: number,
  lengthOf: (item: Item) => number,
): readonly Item[] {
  return items.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, count);
}

/** The longest pairs. A loss may read both sides in one row. */
export function longestPairs(
  pairs: readonly JudgedPair[],
  { pairsPerBatch }: { readonly pairsPerBatch: number },
): LargestUpdate {
  const largest = longest(pairs, pairsPerBatch, pairLength);
  return { sequences: largest.flatMap(({ chosen, rejected }) => [chosen, rejected]), sequencesPerRow: 2 };
}

/** Answers as long as they may be, after prompts of that length, which the answers to a task share. */
export function longestAnswers({
  tasks,
  answers,
  maxTokens = 256,
  contextLength,
}: {
  readonly tasks: number;
  readonly answers: number;
  readonly maxTokens: number | undefined;
  readonly contextLength: number;
}): LargestUpdate {
  const length = Math.min(contextLength, 2 * maxTokens);
  const prompt = Math.ceil(length / 2);
  const sequences = Array.from({ length: answers }, (_, answer) => ({
    tokens: new Array<number>(length).fill(answer % tasks, 0, prompt).fill(answer, prompt),
    mask: new Uint8Array(length).fill(1, prompt),
  }));
  return { sequences };
}
