import { ArgumentError, type NamedSchema, plural, type TokenSequence } from '@rlp/core';
import * as z from 'zod';
import { isMasked } from '../sequence/is-masked.ts';

const schema = z.strictObject({
  /** Longest sequence, in tokens. */
  tokens: z.int().min(2),
  /**
   * What happens to a longer one. `'drop'` leaves it out and `'truncate'` keeps its first tokens, both with a note that counts them.
   * `'error'` ends the run before the first update. Default `'drop'`.
   */
  longer: z.enum(['drop', 'truncate', 'error']).default('drop'),
});

/** Longest sequence of a run, and what happens to longer ones. */
export interface MaxLength extends z.input<typeof schema> {}

/** {@link MaxLength} with every default filled in. */
export interface ResolvedMaxLength extends z.output<typeof schema> {}

/** Schema of {@link MaxLength}. */
export const maxLengthSchema: NamedSchema<MaxLength, ResolvedMaxLength> = schema;

/** Sequences that are short enough, and a sentence about the others. */
export interface WithinLength {
  readonly sequences: readonly TokenSequence[];
  readonly note?: string | undefined;
}

/**
 * Drops or truncates sequences that are too long. Truncated ones without a trained token are dropped.
 *
 * @param contextLength - What the model can take. Without `limit`, a longer sequence is an error.
 * @throws ArgumentError naming the number of long sequences and the longest one.
 */
export function withinLength(
  sequences: readonly TokenSequence[],
  limit: MaxLength | undefined,
  contextLength: number | undefined,
): WithinLength {
  const { tokens, longer } = limit ?? { tokens: contextLength, longer: 'error' };
  if (tokens === undefined) return { sequences };
  const { items, note } = itemsWithin(
    sequences,
    { tokens, longer },
    {
      owner: 'runSftTraining',
      contextLength,
      name: 'sequences',
      lengthOf: (sequence) => sequence.tokens.length,
      truncated,
      lost: 'no trained token is left',
    },
  );
  return { sequences: items, note };
}

/** Items that are short enough, and a sentence about the others. */
export interface ItemsWithin<Item> {
  readonly items: readonly Item[];
  readonly note?: string | undefined;
}

/** What is cut, and for whom. */
export interface ItemKind<Item> {
  /** Begins error messages. */
  readonly owner: string;
  /** What the model can take. */
  readonly contextLength: number | undefined;
  /** Names the items in messages. A plural. */
  readonly name: string;
  /** Tokens of an item's longest sequence. */
  readonly lengthOf: (item: Item) => number;
  /** An item's first tokens. `undefined` if there is nothing to learn from them. */
  readonly truncated: (item: Item, length: number) => Item | undefined;
  /** Why an item is dropped that could not be truncated. Ends a note. */
  readonly lost: string;
}

/**
 * Drops or truncates items that are too long.
 *
 * @throws ArgumentError naming the number of long items and the longest one, or a limit that the model cannot take.
 */
export function itemsWithin<Item>(
  items: readonly Item[],
  { tokens, longer = 'drop' }: MaxLength,
  { owner, contextLength, name, lengthOf, truncated, lost }: ItemKind<Item>,
): ItemsWithin<Item> {
  if (contextLength !== undefined && tokens > contextLength) {
    throw new ArgumentError(
      `${owner}: maxLength.tokens is ${tokens}, but the model's context holds ${contextLength}; pass at most ${contextLength}`,
    );
  }
  const isLong = (item: Item) => lengthOf(item) > tokens;
  const long = items.filter(isLong);
  if (long.length === 0) return { items };
  const longest = long.reduce((most, item) => Math.max(most, lengthOf(item)), 0);
  const counts = `${long.length} of ${items.length} ${name} ${long.length === 1 ? 'is' : 'are'} longer than ${plural(tokens, 'token')} (the longest has ${longest})`;
  if (longer === 'error') {
    throw new ArgumentError(
      `${owner}: ${counts}; shorten them, or pass maxLength: { tokens: ${tokens}, longer: 'drop' or 'truncate' }`,
    );
  }
  if (longer === 'drop') {
    return {
      items: items.filter((item) => !isLong(item)),
      note: `${counts}; ${long.length === 1 ? 'it is' : 'they are'} dropped`,
    };
  }
  const kept = items
    .map((item) => (isLong(item) ? truncated(item, tokens) : item))
    .filter((item) => item !== undefined);
  const dropped = items.length - kept.length;
  const andDropped = dropped === 0 ? '' : `, and ${dropped} of them dropped because ${lost}`;
  return {
    items: kept,
    note: `${counts}; ${long.length === 1 ? 'it is' : 'they are'} truncated${andDropped}`,
  };
}

function truncated(
  { tokens, mask, behaviorLogprobs, steps }: TokenSequence,
  length: number,
): TokenSequence | undefined {
  const first = mask.slice(0, length);
  if (isMasked(first)) return undefined;
  return {
    tokens: tokens.slice(0, length),
    mask: first,
    behaviorLogprobs: behaviorLogprobs.slice(0, length),
    steps: steps.slice(0, length),
  };
}
