import type { TokenId, Tokenizer } from '@rlp/core';

/** Text of a token by itself, special tokens included. */
export function tokenText(tokenizer: Tokenizer, token: TokenId): string {
  return tokenizer.decode([token], { specialTokens: 'keep' });
}

/** UTF-8 bytes of a token's text, or `null` for a part of a character. */
export function tokenBytes(tokenizer: Tokenizer, token: TokenId): readonly number[] | null {
  const text = tokenText(tokenizer, token);
  return text.includes('\uFFFD') ? null : [...new TextEncoder().encode(text)];
}
