import { type JudgedPair, judgedPair, pairsWithin } from '@rlp/algorithms/preference';
import { ArgumentError, messageOf, plural, promptMessages } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { showsMessages } from '../environment.ts';
import type { PreparedRun } from '../prepare.ts';
import { preferenceOf } from './preference-of.ts';
import { placeOf, type RunRow } from './rows.ts';

/** Tokens of the longer side of a pair. */
export function pairLength({ chosen, rejected }: JudgedPair): number {
  return Math.max(chosen.tokens.length, rejected.tokens.length);
}

/** A pair, and the row that it is from. */
export interface RunPair extends JudgedPair {
  readonly id: string;
}

/** Pairs that fit the model, and what was left out. @throws ArgumentError if none is left. */
export function pairsOf(
  rows: readonly RunRow[],
  section: 'preference' | 'rewardModel',
  { environment, given }: PreparedRun,
  model: LanguageModel,
): { readonly pairs: readonly RunPair[]; readonly notes: readonly string[] } {
  const asMessages = showsMessages(environment);
  // The value of a whole sequence needs the place of one more token.
  const contextLength = model.config.contextLength - (section === 'rewardModel' ? 1 : 0);
  const all = rows.map((row): RunPair => {
    const preference = preferenceOf(row);
    const prompt = asMessages ? promptMessages(preference.prompt) : preference.prompt;
    try {
      return { id: row.id, ...judgedPair({ ...preference, prompt }, model) };
    } catch (error) {
      throw new ArgumentError(`${section}: ${placeOf(row)}: ${messageOf(error)}`, { cause: error });
    }
  });
  const limit = given[section]?.maxLength ?? { tokens: contextLength };
  const { items: pairs, note } = pairsWithin(all, limit, { owner: section, contextLength });
  if (pairs.length === 0 && all.length > 0) {
    throw new ArgumentError(
      `${section}: each of the ${plural(all.length, 'pair')} is longer than ${plural(limit.tokens, 'token')}; shorten them, raise ${section}.maxLength, or choose a model with a longer context`,
    );
  }
  return { pairs, notes: note === undefined ? [] : [note] };
}
