import fc from 'fast-check';
import { expect, it } from 'vitest';
import { byteTokenizer, characterTokenizer, tokenTexts } from '../index.ts';

it('gives the texts of tokens, which join to the text of all', () => {
  const tokenizer = byteTokenizer();
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), (text) => {
      const tokens = tokenizer.encode(text, { specialTokens: 'none' });
      const texts = tokenTexts(tokenizer, tokens);
      expect(texts).toHaveLength(tokens.length);
      expect(texts.join('')).toBe(text);
    }),
  );
});

it('keeps special tokens, and what is left of a character that was cut', () => {
  const letters = characterTokenizer('ab', { end: '<end>' });
  expect(tokenTexts(letters, [...letters.encode('ab'), ...letters.eosIds])).toEqual(['a', 'b', '<end>']);
  const bytes = byteTokenizer();
  const [first] = bytes.encode('é', { specialTokens: 'none' });
  expect(tokenTexts(bytes, [first!])).toEqual(['\uFFFD']);
  expect(tokenTexts(bytes, [])).toEqual([]);
});
