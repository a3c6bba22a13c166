import { requireArguments, requireFields } from '@rlp/core';
import { isMasked } from '../sequence/is-masked.ts';
import { type ItemKind, type ItemsWithin, itemsWithin, type MaxLength } from '../supervised/max-length.ts';
import type { JudgedPair, JudgedSequence, LabelledSequence } from './preferences.ts';

/** For whom items are cut. */
type Context = Pick<ItemKind<never>, 'owner' | 'contextLength'>;

/**
 * Drops or truncates pairs of which a side is too long. A truncated pair is dropped if a side keeps no token of its completion, or if
 * both sides are equal.
 *
 * @param context - `owner` begins error messages, `contextLength` is what the model can take.
 * @throws ArgumentError naming the number of long pairs and the longest sequence.
 */
export function pairsWithin<Pair extends JudgedPair>(
  pairs: readonly Pair[],
  limit: MaxLength | undefined,
  context: Context,
): ItemsWithin<Pair> {
  requireArguments('pairsWithin', { pairs: 'objects', limit: 'object?' }, pairs, limit);
  requireFields('pairsWithin', { owner: 'text', contextLength: 'number?' }, context);
  if (limit === undefined) return { items: pairs };
  return itemsWithin(pairs, limit, {
    ...{ ...context, name: 'pairs', lost },
    lengthOf: ({ chosen, rejected }) => Math.max(chosen.tokens.length, rejected.tokens.length),
    truncated: (pair, length) => {
      const [chosen, rejected] = [truncated(pair.chosen, length), truncated(pair.rejected, length)];
      if (!chosen || !rejected || chosen.tokens.join() === rejected.tokens.join()) return undefined;
      return { ...pair, chosen, rejected };
    },
  });
}

/** {@link pairsWithin} for single sequences. */
export function examplesWithin(
  examples: readonly LabelledSequence[],
  limit: MaxLength | undefined,
  context: Context,
): ItemsWithin<LabelledSequence> {
  requireArguments('examplesWithin', { examples: 'objects', limit: 'object?' }, examples, limit);
  requireFields('examplesWithin', { owner: 'text', contextLength: 'number?' }, context);
  if (limit === undefined) return { items: examples };
  return itemsWithin(examples, limit, {
    ...{ ...context, name: 'examples', lost },
    lengthOf: ({ sequence }) => sequence.tokens.length,
    truncated: (example, length) => {
      const sequence = truncated(example.sequence, length);
      return sequence && { ...example, sequence };
    },
  });
}

const lost = 'nothing to compare is left';

/** `undefined` if no token is left that counts. */
function truncated({ tokens, mask }: JudgedSequence, length: number): JudgedSequence | undefined {
  const first = mask.slice(0, length);
  return isMasked(first) ? undefined : { tokens: tokens.slice(0, length), mask: first };
}
