import { ArgumentError, type TokenId } from '@rlp/core';
import type { TextTokenizer } from '@rlp/models';

/** What is compared of a tokenizer. */
type Vocabulary = Pick<TextTokenizer, 'vocabularySize' | 'tokenText'>;

/**
 * Another model scores tokens of the policy by their ids, so it has to mean the same by each of them. It may know further tokens.
 *
 * @param place - Begins the error message.
 * @throws ArgumentError naming the first token of the policy that the other model does not have under that id.
 */
export function requireVocabulary(
  place: string,
  { name, tokenizer }: { readonly name: string; readonly tokenizer: Vocabulary },
  own: Vocabulary,
): void {
  const ids: readonly TokenId[] = [...Array(own.vocabularySize).keys()];
  const isOther = (id: TokenId) => ![undefined, tokenizer.tokenText(id)].includes(own.tokenText(id));
  const first = ids.find(isOther);
  if (first === undefined) return;
  const theirs = tokenizer.tokenText(first);
  throw new ArgumentError(
    `${place}: ${name} has another vocabulary than the model: token ${first} is ${JSON.stringify(own.tokenText(first))} of the model, ` +
      `and ${theirs === undefined ? 'none' : JSON.stringify(theirs)} of ${name}; choose one of the same family`,
  );
}
