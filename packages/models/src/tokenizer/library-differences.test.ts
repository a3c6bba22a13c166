import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import { byteTokenizer } from './built-tokenizers.ts';
import { textTokenizer } from './text-tokenizer.ts';

type Json = Record<string, unknown>;

const bytes = byteTokenizer().files.tokenizer as { readonly model: { readonly vocab: Json } };
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };

/** A tokenizer of bytes with merges, and with other parts. */
function byteLevelFile(pairs: readonly [string, string][], parts: Json): Json {
  const vocab = { ...bytes.model.vocab };
  for (const [index, pair] of pairs.entries()) vocab[pair.join('')] = 256 + index;
  return { ...bytes, model: { ...bytes.model, vocab, merges: pairs }, ...parts };
}

const merges: [string, string][] = [
  ['=', '<'],
  ['.', '.'],
  ['1', '2'],
  ['Ġ', 'ï'],
  ['Â', '²'],
];

function splitBy(part: Json): Json {
  return byteLevelFile(merges, { pre_tokenizer: { type: 'Sequence', pretokenizers: [part, byteLevel] } });
}

const names = [
  '<unk>',
  '▁',
  'a',
  '▁a',
  'é',
  'x',
  '<0xEF>',
  '<0xBB>',
  '<0xBF>',
  '<0xE2>',
  '<0x82>',
  '<0x41>',
  '²',
];

/** A tokenizer of few characters, or words. */
function characterFile(parts: Json, model: Json = {}): Json {
  const vocab = Object.fromEntries(names.map((name, index) => [name, index]));
  const shape = { type: 'BPE', vocab, merges: [['▁', 'a']], unk_token: '<unk>', ...model };
  const none = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    ...none,
    model: shape,
    ...parts,
  };
}

const lily = {
  id: 256,
  content: 'lily',
  single_word: true,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: false,
};
const metaspace = (scheme: Json) => ({
  pre_tokenizer: { type: 'Metaspace', replacement: '▁', split: true, ...scheme },
  decoder: { type: 'Metaspace', replacement: '▁', split: true, ...scheme },
});
const fallback = { decoder: { type: 'Sequence', decoders: [{ type: 'ByteFallback' }, { type: 'Fuse' }] } };

const files: Readonly<Record<string, Json>> = {
  'single words': byteLevelFile([], { added_tokens: [lily] }),
  'punctuation, each': splitBy({ type: 'Punctuation', behavior: 'Isolated' }),
  'punctuation, runs': splitBy({ type: 'Punctuation', behavior: 'Contiguous' }),
  'punctuation, left out': splitBy({ type: 'Punctuation', behavior: 'Removed' }),
  'digits, each': splitBy({ type: 'Digits', individual_digits: true }),
  'digits, runs': splitBy({ type: 'Digits', individual_digits: false }),
  'words of GPT-2': byteLevelFile(merges, { pre_tokenizer: { ...byteLevel, use_regex: true } }),
  'words between spaces': splitBy({ type: 'WhitespaceSplit' }),
  'words and signs': splitBy({ type: 'Whitespace' }),
  'no first space': characterFile(metaspace({ prepend_scheme: 'never' })),
  'a first space': characterFile(metaspace({ prepend_scheme: 'always' })),
  'bytes of rare characters': characterFile(fallback, { byte_fallback: true }),
};

/** What transformers 5.24 gave for these files: ids, and the text that they decode to. */
const golden: readonly (readonly [string, string, readonly number[], string])[] = [
  ['single words', 'lilypad lily', [108, 105, 108, 121, 112, 97, 100, 32, 256], 'lilypad lily'],
  [
    'single words',
    'xlily lily_ (lily)',
    [120, 108, 105, 108, 121, 32, 108, 105, 108, 121, 95, 32, 40, 256, 41],
    'xlily lily_ (lily)',
  ],
  ['punctuation, each', 'a=<b..c$x', [97, 61, 60, 98, 46, 46, 99, 36, 120], 'a=<b..c$x'],
  ['punctuation, runs', 'a=<b..c$x', [97, 256, 98, 257, 99, 36, 120], 'a=<b..c$x'],
  ['punctuation, left out', 'a=<b..c$x', [97, 98, 99, 120], 'abcx'],
  ['digits, each', 'x12²1', [120, 49, 50, 260, 49], 'x12²1'],
  ['digits, runs', 'x12²1', [120, 258, 260, 49], 'x12²1'],
  [
    'words of GPT-2',
    'x \ufeffy\u0085z é\u200d1',
    [120, 259, 187, 191, 121, 194, 133, 122, 32, 195, 169, 226, 128, 141, 49],
    'x \ufeffy\u0085z é\u200d1',
  ],
  [
    'words between spaces',
    'x \ufeffy\u0085z é\u200d1',
    [120, 239, 187, 191, 121, 122, 195, 169, 226, 128, 141, 49],
    'x\ufeffyzé\u200d1',
  ],
  [
    'words and signs',
    'x \ufeffy\u0085z é\u200d1=<',
    [120, 239, 187, 191, 121, 122, 195, 169, 226, 128, 141, 49, 256],
    'x\ufeffyzé\u200d1=<',
  ],
  ['no first space', ' a a', [3, 3], ' a a'],
  ['a first space', ' a a', [3, 3], 'a a'],
  ['bytes of rare characters', '\ufeffx', [6, 7, 8, 5], '\ufeffx'],
  ['bytes of rare characters', 'A', [11], 'A'],
];

const load = (file: Json) => textTokenizer({ tokenizer: file, config: {} }, 'm');

describe('a tokenizer of', () => {
  it.each(golden)('%s reads %j as transformers does', (name, text, ids, decoded) => {
    const tokenizer = load(files[name]!);
    expect(tokenizer.encode(text)).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(decoded);
  });

  it('bytes of rare characters writes U+FFFD for each byte that is no text', () => {
    const { decode } = load(files['bytes of rare characters']!);
    expect(decode([9, 10, 5])).toBe('\ufffd\ufffdx');
    expect(decode([5, 9, 10])).toBe('x\ufffd\ufffd');
    expect(decode([6, 7, 8, 9, 5])).toBe('\ufffd\ufffd\ufffd\ufffdx');
  });

  it.each([true, false])(
    'characters without an unknown token drops none (byte fallback %s)',
    (isFallback) => {
      const model = { unk_token: null, byte_fallback: isFallback };
      const tokenizer = load(characterFile({}, model));
      expect(tokenizer.encode('ax')).toEqual([2, 5]);
      expect(() => tokenizer.encode('a\0x')).toThrow(ArgumentError);
      expect(tokenizer.files.tokenizer.model).toMatchObject(model);
    },
  );
});
