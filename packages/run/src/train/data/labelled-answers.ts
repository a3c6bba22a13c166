import { examplesWithin, type LabelledSequence, labelledSequence } from '@rlp/algorithms/preference';
import { ArgumentError, plural, promptMessages } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { showsMessages } from '../environment.ts';
import type { PreparedRun } from '../prepare.ts';
import { ratingOf } from './ratings.ts';
import type { RunRow } from './rows.ts';

/** Rated answers that fit the model, and what was left out. @throws ArgumentError if none is left. */
export function labelledAnswers(
  rows: readonly RunRow[],
  { environment, given }: PreparedRun,
  model: LanguageModel,
): { readonly examples: readonly LabelledSequence[]; readonly notes: readonly string[] } {
  const asMessages = showsMessages(environment);
  const { contextLength } = model.config;
  const all = rows.map((row) => {
    const { prompt, completion = '', tools } = row;
    const rated = { completion, rating: ratingOf(row), ...(tools && { tools }) };
    return labelledSequence({ prompt: asMessages ? promptMessages(prompt) : prompt, ...rated }, model);
  });
  const limit = given.preference?.maxLength ?? { tokens: contextLength };
  const { items: examples, note } = examplesWithin(all, limit, { owner: 'preference', contextLength });
  if (examples.length === 0) {
    throw new ArgumentError(
      `preference: each of the ${plural(all.length, 'answer')} is longer than ${plural(limit.tokens, 'token')}; shorten them, raise preference.maxLength, or choose a model with a longer context`,
    );
  }
  return { examples, notes: note === undefined ? [] : [note] };
}
