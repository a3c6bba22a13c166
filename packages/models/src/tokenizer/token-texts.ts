import { requireArguments, requireFields, type TokenId, type Tokenizer } from '@rlp/core';
import { StreamDecoder } from './stream-decoder.ts';

/**
 * Text of each token, special tokens included. Joined, they are the text of all. Shape: `[T]`.
 *
 * A character whose bytes are spread over several tokens stands with the last of them. Viewers colour tokens by it.
 */
export function tokenTexts(tokenizer: Tokenizer, tokens: readonly TokenId[]): string[] {
  requireArguments('tokenTexts', { tokenizer: 'object', tokens: 'numbers' }, tokenizer, tokens);
  requireFields('tokenTexts: tokenizer', { decode: 'function' }, tokenizer);
  const decoder = new StreamDecoder(tokenizer, { specialTokens: 'keep' });
  const texts = tokens.map((token) => decoder.push(token));
  if (texts.length > 0) texts[texts.length - 1] += decoder.finish();
  return texts;
}
