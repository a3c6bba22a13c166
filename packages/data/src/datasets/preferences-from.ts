import { type Message, requireArguments, type ToolSchema } from '@rlp/core';
import { cellOf, type DatasetColumns, described, KnownColumns, rowError } from './columns.ts';
import { type Dataset, requireDataset } from './dataset.ts';
import type { DatasetEntry } from './dataset-entry.ts';
import { promptOf, textOrMessages, toolsOf } from './row-parts.ts';

/** A prompt with a preferred and another answer, each as text or as messages. */
export interface PreferencePair {
  readonly prompt: string | readonly Message[];
  readonly chosen: string | readonly Message[];
  readonly rejected: string | readonly Message[];
  /** Tools that the assistant was offered. The chat template shows them. */
  readonly tools?: readonly ToolSchema[] | undefined;
}

/** An answer that somebody judged. */
export interface RatedAnswer {
  readonly prompt: string | readonly Message[];
  readonly completion: string | readonly Message[];
  /** `true` or `false` of a label, or a score. */
  readonly rating: boolean | number;
}

/** How rows are read. */
interface Reading {
  /** Ends the reading with its reason. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads rows of `chosen` and `rejected` as preference pairs.
 *
 * Without a prompt, the prompt is what both begin with: their first messages, or their text up to the last `Assistant:`, or up to the
 * last space. Conversations that begin with the same messages lose them, because they are the prompt.
 *
 * @throws FormatError naming the row without them.
 */
export async function* preferencesFrom(
  dataset: Dataset<object>,
  options: Reading = {},
): AsyncGenerator<PreferencePair, void, undefined> {
  requireArguments('preferencesFrom', { options: 'object?' }, options);
  const { signal } = options;
  const known = new KnownColumns();
  requireDataset('preferencesFrom', dataset);
  for await (const batch of dataset.batches({ signal })) {
    for (const entry of batch) yield pairOf(entry, known.of(entry));
  }
}

function pairOf(entry: DatasetEntry<object>, columns: DatasetColumns): PreferencePair {
  const { chosen: chosenColumn, rejected: rejectedColumn, messages: _, ...others } = columns;
  if (chosenColumn === undefined || rejectedColumn === undefined) {
    throw rowError(
      entry,
      'the columns chosen and rejected',
      "name them, as in fields: { chosen: 'better', rejected: 'worse' }",
    );
  }
  const [chosen, rejected] = [textOrMessages(entry, chosenColumn), textOrMessages(entry, rejectedColumn)];
  if (typeof chosen !== typeof rejected) {
    throw rowError(
      entry,
      `${chosenColumn} and ${rejectedColumn} in one form, got ${described(chosen)} and ${described(rejected)}`,
      'write both as text or both as messages',
    );
  }
  const shared = sharedLength(chosen, rejected);
  const given = promptOf(entry, others);
  const tools = toolsOf(entry, columns);
  if (given !== undefined && (typeof chosen === 'string' || shared === 0)) {
    return { prompt: given, chosen, rejected, ...(tools && { tools }) };
  }
  const [prompt, better, worse] = [chosen.slice(0, shared), chosen.slice(shared), rejected.slice(shared)];
  if (better.length > 0 && worse.length > 0 && prompt.length > 0) {
    return { prompt, chosen: better, rejected: worse, ...(tools && { tools }) };
  }
  const got = prompt.length > 0 ? 'an answer that is empty' : 'answers that begin differently';
  throw rowError(
    entry,
    `a prompt, or answers that begin with it, got ${got}`,
    "name its column, as in fields: { prompt: 'query' }, or remove the row",
  );
}

/** How much of both answers is the prompt. */
function sharedLength(chosen: string | readonly Message[], rejected: string | readonly Message[]): number {
  const isSame =
    typeof chosen === 'string'
      ? (at: number) => chosen[at] === rejected[at]
      : (at: number) => JSON.stringify(chosen[at]) === JSON.stringify(rejected[at]);
  let shared = 0;
  while (shared < Math.min(chosen.length, rejected.length) && isSame(shared)) shared += 1;
  if (typeof chosen !== 'string') return shared;
  const text = chosen.slice(0, shared);
  const turn = text.lastIndexOf('Assistant:');
  return turn >= 0 ? turn + 'Assistant:'.length : text.lastIndexOf(' ') + 1;
}

/**
 * Reads rows of a prompt, an answer and a `label` (`true` or `false`) or a `score` as rated answers.
 *
 * @throws FormatError naming the row without them.
 */
export async function* ratingsFrom(
  dataset: Dataset<object>,
  options: Reading = {},
): AsyncGenerator<RatedAnswer, void, undefined> {
  requireArguments('ratingsFrom', { options: 'object?' }, options);
  const { signal } = options;
  const known = new KnownColumns();
  requireDataset('ratingsFrom', dataset);
  for await (const batch of dataset.batches({ signal })) {
    for (const entry of batch) yield ratedOf(entry, known.of(entry));
  }
}

function ratedOf(entry: DatasetEntry<object>, columns: DatasetColumns): RatedAnswer {
  const { answer, label, score } = columns;
  const prompt = promptOf(entry, columns);
  const rating = ratingOf(label === undefined ? undefined : cellOf(entry.row, label), 'boolean');
  const scored = rating ?? ratingOf(score === undefined ? undefined : cellOf(entry.row, score), 'number');
  if (prompt !== undefined && answer !== undefined && answer !== label && scored !== undefined) {
    return { prompt, completion: textOrMessages(entry, answer), rating: scored };
  }
  throw rowError(
    entry,
    'a prompt, an answer and a label (true or false) or a score (a number)',
    "name them, as in fields: { prompt: 'query', answer: 'reply', label: 'good' }",
  );
}

/** A label or a score. CSV has them as text. */
function ratingOf(value: unknown, kind: 'boolean' | 'number'): boolean | number | undefined {
  if (typeof value === kind) return value as boolean | number;
  if (kind === 'boolean') return { true: true, false: false }[String(value).toLowerCase()];
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
