import { ArgumentError } from '@rlp/core';
import { isMasked } from '../loop/experience.ts';
import { type MaxLength, requireContext } from '../loop/max-length.ts';
import type { JudgedPair, JudgedSequence, LabelledSequence } from './preferences.ts';

/** What is short enough, and a sentence about the others. */
export interface JudgedWithin<Item> {
  readonly items: readonly Item[];
  readonly note?: string | undefined;
}

/** How an item holds its sequences. */
interface Sides<Item> {
  readonly name: string;
  readonly of: (item: Item) => readonly JudgedSequence[];
  readonly replaced: (item: Item, sides: readonly JudgedSequence[]) => Item;
}

const pairSides = <Pair extends JudgedPair>(): Sides<Pair> => ({
  name: 'pairs',
  of: ({ chosen, rejected }) => [chosen, rejected],
  replaced: (pair, [chosen, rejected]) => ({ ...pair, chosen: chosen!, rejected: rejected! }),
});

const exampleSides: Sides<LabelledSequence> = {
  name: 'examples',
  of: ({ sequence }) => [sequence],
  replaced: (example, [sequence]) => ({ ...example, sequence: sequence! }),
};

/**
 * Drops or truncates pairs of which a side is too long. A truncated pair is dropped if a side keeps no token of its completion, or if
 * both sides are equal.
 *
 * @param owner - Begins error messages.
 * @throws `ArgumentError` naming the number of long pairs and the longest sequence.
 */
export function pairsWithin<Pair extends JudgedPair>(
  pairs: readonly Pair[],
  limit: MaxLength | undefined,
  context: { readonly owner: string; readonly contextLength: number | undefined },
): JudgedWithin<Pair> {
  return within(pairs, limit, context, pairSides<Pair>());
}

/** {@link pairsWithin} for single sequences. */
export function examplesWithin(
  examples: readonly LabelledSequence[],
  limit: MaxLength | undefined,
  context: { readonly owner: string; readonly contextLength: number | undefined },
): JudgedWithin<LabelledSequence> {
  return within(examples, limit, context, exampleSides);
}

function within<Item>(
  items: readonly Item[],
  limit: MaxLength | undefined,
  { owner, contextLength }: { readonly owner: string; readonly contextLength: number | undefined },
  { name, of, replaced }: Sides<Item>,
): JudgedWithin<Item> {
  if (limit === undefined) return { items };
  const { tokens, longer = 'drop' } = limit;
  requireContext(owner, tokens, contextLength);
  const lengthOf = (item: Item) => Math.max(...of(item).map((side) => side.tokens.length));
  const long = items.filter((item) => lengthOf(item) > tokens);
  if (long.length === 0) return { items };
  const longest = long.reduce((most, item) => Math.max(most, lengthOf(item)), 0);
  const counts = `${long.length} of ${items.length} ${name} are longer than ${tokens} tokens (the longest has ${longest})`;
  if (longer === 'error') {
    throw new ArgumentError(
      `${owner}: ${counts}; shorten them, or pass maxLength: { tokens: ${tokens}, longer: 'drop' or 'truncate' }`,
    );
  }
  if (longer === 'drop') {
    return { items: items.filter((item) => lengthOf(item) <= tokens), note: `${counts}; they are dropped` };
  }
  const cut = items.map((item) =>
    lengthOf(item) <= tokens
      ? item
      : replaced(
          item,
          of(item).map((side) => truncated(side, tokens)),
        ),
  );
  const kept = cut.filter((item, at) => item === items[at] || isLearnable(of(item)));
  const lost = cut.length - kept.length;
  const dropped = lost === 0 ? '' : `, and ${lost} of them dropped because nothing to compare is left`;
  return { items: kept, note: `${counts}; they are truncated${dropped}` };
}

function truncated({ tokens, mask }: JudgedSequence, length: number): JudgedSequence {
  return { tokens: tokens.slice(0, length), mask: mask.slice(0, length) };
}

/** Whether each side has a token that counts, and they differ. */
function isLearnable(sides: readonly JudgedSequence[]): boolean {
  const [first, second] = sides;
  const isEqual = second !== undefined && first!.tokens.join() === second.tokens.join();
  return !isEqual && sides.every(({ mask }) => !isMasked(mask));
}
