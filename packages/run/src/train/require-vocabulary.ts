import { ArgumentError } from '@rlp/core';
import type { TextTokenizer } from '@rlp/models';

/**
 * Another model scores tokens of the policy by their ids, so both have to mean the same by them.
 *
 * @param place - Begins the error message.
 * @throws ArgumentError if a token of the one is not that of the other.
 */
export function requireVocabulary(
  place: string,
  { name, tokenizer }: { readonly name: string; readonly tokenizer: TextTokenizer },
  own: TextTokenizer,
): void {
  const vocabulary = ({ files: { tokenizer } }: TextTokenizer) => {
    const { vocab } = (tokenizer.model ?? {}) as { readonly vocab?: unknown };
    const added = (tokenizer.added_tokens ?? []) as readonly {
      readonly id: number;
      readonly content: string;
    }[];
    return JSON.stringify([vocab, added.map(({ id, content }) => [id, content])]);
  };
  if (vocabulary(tokenizer) === vocabulary(own)) return;
  throw new ArgumentError(
    `${place}: ${name} has another vocabulary than the model (${tokenizer.vocabularySize} and ${own.vocabularySize} tokens); choose one of the same family`,
  );
}
