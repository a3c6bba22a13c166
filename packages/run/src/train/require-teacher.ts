import { ArgumentError, FormatError } from '@rlp/core';
import { loadTokenizer, type TextTokenizer } from '@rlp/models';
import type { Teacher } from '../config/distill-schema.ts';
import { missingModel } from '../folder/missing-model.ts';
import { savedModel } from '../folder/run-files.ts';

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
  requireVocabulary(name, tokenizer, own);
}

/** Tokens are scored by their ids, so both have to mean the same by them. */
function requireVocabulary(name: string, teacher: TextTokenizer, own: TextTokenizer): void {
  const vocabulary = ({ files: { tokenizer } }: TextTokenizer) => {
    const { vocab } = (tokenizer.model ?? {}) as { readonly vocab?: unknown };
    const added = (tokenizer.added_tokens ?? []) as readonly {
      readonly id: number;
      readonly content: string;
    }[];
    return JSON.stringify([vocab, added.map(({ id, content }) => [id, content])]);
  };
  if (vocabulary(teacher) === vocabulary(own)) return;
  throw new ArgumentError(
    `distill.teacher: ${name} has another vocabulary than the model (${teacher.vocabularySize} and ${own.vocabularySize} tokens); choose a teacher of the same family`,
  );
}
