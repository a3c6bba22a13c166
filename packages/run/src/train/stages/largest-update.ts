import type { JudgedPair } from '@rlp/algorithms/preference';
import { type Loss, promptMessages, type TrainingSequence } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import type { RolloutOptions } from '@rlp/rollout';
import { pairLength } from '../data/pairs.ts';
import type { RunRow } from '../data/rows.ts';
import { firstPrompt, showsRows } from '../environment.ts';
import { sampledContext } from '../policy.ts';
import type { PreparedRun } from '../prepare.ts';

/** What the estimate of memory depends on. */
export interface LargestUpdate extends Pick<Loss, 'sequencesPerRow' | 'values'> {
  readonly sequences: readonly Pick<TrainingSequence, 'tokens' | 'mask'>[];
  /** Sequences that are sampled for it at once. Default none. */
  readonly sampled?: number | undefined;
}

/** What a stage samples in an iteration, and into how many updates it divides that. */
interface SampledAnswers {
  /** Rows whose prompts are answered. Default: those that are practised on. */
  readonly rows?: readonly RunRow[] | undefined;
  readonly tasks: number;
  readonly rollout: RolloutOptions;
  readonly minibatches?: number | undefined;
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

/**
 * Answers as long as they may be, to the longest prompts of the rows, which the answers to a task share. Prompts that only the episodes
 * will tell are taken to be as long as answers.
 */
export function longestAnswers(
  prepared: PreparedRun,
  model: LanguageModel,
  { rows = prepared.rows.practised, tasks, rollout, minibatches = 1 }: SampledAnswers,
): LargestUpdate {
  const { sampling: { maxTokens = 256 } = {}, contextLength = Number.POSITIVE_INFINITY } = rollout;
  const context = Math.min(contextLength, sampledContext(prepared.given.sampler, model));
  const known = longestPrompts(prepared, model, { rows, count: tasks, below: context });
  const unknown = Math.ceil(Math.min(context, 2 * maxTokens) / 2);
  const prompts = known.length > 0 ? known : new Array<number>(tasks).fill(unknown);
  const sampled = tasks * (rollout.groupSize ?? 8);
  const sequences = Array.from({ length: Math.ceil(sampled / minibatches) }, (_, answer) => {
    const task = answer % prompts.length;
    const length = Math.min(context, prompts[task]! + maxTokens);
    return {
      tokens: new Array<number>(length).fill(task, 0, prompts[task]).fill(answer, prompts[task]),
      mask: new Uint8Array(length).fill(1, prompts[task]),
    };
  });
  return { sequences, sampled };
}

/** Prompts without room for an answer that are looked at. Their tokens are counted, which takes seconds for thousands. */
const mostTooLong = 64;

/**
 * Tokens of the longest prompts that answers fit behind. None if a game, an agent or the caller's environment writes them. If many prompts
 * are too long, others are taken to leave room for one token.
 */
function longestPrompts(
  { environment, agent }: PreparedRun,
  model: LanguageModel,
  {
    rows,
    count,
    below,
  }: { readonly rows: readonly RunRow[]; readonly count: number; readonly below: number },
): readonly number[] {
  const lengths: number[] = [];
  if (agent !== undefined || !showsRows(environment)) return lengths;
  const textLength = ({ prompt }: RunRow) =>
    promptMessages(prompt).reduce((sum, { content }) => sum + content.length, 0);
  const tried = longest(rows, count + mostTooLong, textLength);
  for (const row of tried) {
    if (lengths.length === count) break;
    try {
      const { length } = firstPrompt(row, environment, model);
      if (length < below) lengths.push(length);
    } catch {
      // Its episodes will fail, and say why.
    }
  }
  const untried = rows.length - tried.length;
  const missing = Math.min(untried, count - lengths.length);
  return [...lengths, ...new Array<number>(missing).fill(below - 1)];
}
