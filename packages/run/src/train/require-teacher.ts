import { FormatError } from '@rlp/core';
import { loadTokenizer, type TextTokenizer } from '@rlp/models';
import type { Teacher } from '../config/distill-schema.ts';
import { missingModel } from '../folder/missing-model.ts';
import { savedModel } from '../folder/run-files.ts';
import { requireVocabulary } from './require-vocabulary.ts';

/**
 * Reads the tokenizer of a teacher, without its weights.
 *
 * @throws FormatError if there is no teacher, ArgumentError if its tokens are not those of the model.
 */
export async function requireTeacher(
  teacher: Teacher | undefined,
  own: TextTokenizer,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (teacher === undefined || (typeof teacher === 'object' && 'scoreTokens' in teacher)) return;
  const name = typeof teacher === 'string' ? teacher : teacher.model;
  const saved = savedModel(name);
  const problem = saved === undefined ? await missingModel(name) : undefined;
  if (problem !== undefined) throw new FormatError(`distill.teacher: ${problem}`);
  const { tokenizer } = await loadTokenizer(saved ?? name, { signal });
  requireVocabulary('distill.teacher', { name, tokenizer }, own);
}
