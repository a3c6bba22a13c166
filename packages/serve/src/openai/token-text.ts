import type { TokenId, Tokenizer } from '@rlp/core';

/** Text of a token by itself, special tokens included. */
export function tokenText(tokenizer: Tokenizer, token: TokenId): string {
  return tokenizer.decode([token], { specialTokens: 'keep' });
}

/** Text of a token and its UTF-8 bytes, which are `null` for a part of a character. */
export function wordsOf(tokenizer: Tokenizer, token: TokenId) {
  const text = tokenText(tokenizer, token);
  return { token: text, bytes: text.includes('\uFFFD') ? null : [...new TextEncoder().encode(text)] };
}
