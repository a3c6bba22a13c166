import { ArgumentError, parseOptions } from '@rlp/core';
import * as z from 'zod';

import { type TextTokenizer, textTokenizer } from './text-tokenizer.ts';

const token = z.string().min(1);
const specialsSchema = z.strictObject({
  /** Token that begins a sequence. `encode` adds it in front by default. Default none. */
  begin: token.optional(),
  /** Token that ends a completion. Default none. */
  end: token.optional(),
  /** Token that fills the rows of a batch. Default none. */
  padding: token.optional(),
  /** Token for characters outside the alphabet, which are an error otherwise. Character tokenizers only. Default none. */
  unknown: token.optional(),
  /** Further tokens, such as `<think>`. They count as ordinary text, so decoding always keeps them. Default `[]`. */
  others: z.array(token).readonly().default([]),
});
const optionsSchema = z.strictObject({
  /** Jinja chat template that is saved with the tokenizer. Default none. */
  chatTemplate: z.string().optional(),
  /** Maximum input length in tokens, recorded in the files. Default no limit. */
  maxLength: z.int().positive().optional(),
});

/** Special tokens of a built tokenizer. Each has its own id and is matched literally in text. */
export interface SpecialTokens extends z.input<typeof specialsSchema> {}

/** Options of {@link characterTokenizer} and {@link byteTokenizer}. */
export interface BuiltTokenizerOptions extends z.input<typeof optionsSchema> {}

type Specials = z.output<typeof specialsSchema>;

/**
 * Creates a tokenizer of single characters (Unicode code points).
 *
 * Special tokens have the first ids, in the order begin, end, padding, unknown, others. The alphabet follows in the given
 * order. Saved as a `tokenizer.json`, it loads in transformers and vLLM.
 *
 * @param alphabet - Distinct characters.
 * @throws ArgumentError for an empty alphabet or one that repeats a character; `encode` throws it for a character
 *   outside the alphabet unless there is an `unknown` token.
 */
export function characterTokenizer(
  alphabet: string,
  specials: SpecialTokens = {},
  options: BuiltTokenizerOptions = {},
): TextTokenizer {
  const parsed = parseOptions('characterTokenizer', specialsSchema, specials);
  const settings = parseOptions('characterTokenizer', optionsSchema, options);
  if (typeof alphabet !== 'string')
    throw new ArgumentError(
      `characterTokenizer: expected the alphabet as text, such as '0123456789', got ${typeof alphabet}`,
    );
  const characters = [...alphabet];
  if (characters.length === 0)
    throw new ArgumentError('characterTokenizer: expected at least one character in the alphabet, got none');
  const names = specialNames(parsed);
  const vocabulary = vocabularyOf('characterTokenizer', [...names, ...characters]);
  const files = {
    tokenizer: tokenizerJson(vocabulary, parsed, { decoder: { type: 'Fuse' } }),
    config: configJson(parsed, settings),
  };
  return byCharacters(textTokenizer(files, 'characterTokenizer'), vocabulary, parsed);
}

/** Gives the ids of characters at once. The library would look for pairs to merge, of which there are none. */
function byCharacters(
  tokenizer: TextTokenizer,
  vocabulary: Readonly<Record<string, number>>,
  specials: Specials,
): TextTokenizer {
  const ids = new Map(Object.entries(vocabulary));
  const partsOf = splitter(specialNames(specials));
  const unknown = specials.unknown === undefined ? undefined : ids.get(specials.unknown)!;
  const begin = specials.begin === undefined ? [] : [ids.get(specials.begin)!];
  const idOf = (part: string) => {
    const id = ids.get(part) ?? unknown;
    if (id !== undefined) return id;
    const remedy = 'add it to the alphabet or give an unknown token';
    throw new ArgumentError(`encode: ${JSON.stringify(part)} is not in the alphabet; ${remedy}`);
  };
  return {
    ...tokenizer,
    encode(text, { specialTokens = 'add' } = {}) {
      const encoded = specialTokens === 'add' ? begin.slice() : [];
      for (const part of partsOf(text)) encoded.push(idOf(part));
      return encoded;
    },
  };
}

/** Finds special tokens and characters of a text. Of several special tokens at one place the longest counts. */
function splitter(specials: readonly string[]): (text: string) => Iterable<string> {
  const alternatives = specials
    .toSorted((a, b) => b.length - a.length)
    .map((special) => special.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const parts = new RegExp(`${alternatives.join('|')}|[\\s\\S]`, 'gu');
  return (text) => (specials.some((special) => text.includes(special)) ? (text.match(parts) ?? []) : text);
}

/**
 * Creates a tokenizer of UTF-8 bytes, which encodes any text.
 *
 * Token `b` is the byte `b`. Special tokens have ids from 256 in the order begin, end, padding, others. Saved as a
 * `tokenizer.json`, it loads in transformers and vLLM.
 */
export function byteTokenizer(
  specials: Omit<SpecialTokens, 'unknown'> = {},
  options: BuiltTokenizerOptions = {},
): TextTokenizer {
  const parsed = parseOptions('byteTokenizer', specialsSchema.omit({ unknown: true }), specials);
  const settings = parseOptions('byteTokenizer', optionsSchema, options);
  const vocabulary = vocabularyOf('byteTokenizer', [...byteSpellings(), ...specialNames(parsed)]);
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  return textTokenizer(
    {
      tokenizer: tokenizerJson(vocabulary, parsed, { pre_tokenizer: bytes, decoder: bytes }),
      config: configJson(parsed, settings),
    },
    'byteTokenizer',
  );
}

/** GPT-2's printable spelling of each byte: itself if printable, otherwise a character from U+0100 on. */
function byteSpellings(): string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    return String.fromCodePoint(printable ? byte : next++);
  });
}

function specialNames({ begin, end, padding, unknown, others }: Specials): string[] {
  const names = [begin, end, padding, unknown, ...others].filter((name) => name !== undefined);
  return [...new Set(names)];
}

function vocabularyOf(owner: string, tokens: readonly string[]): Record<string, number> {
  const vocabulary = new Map<string, number>();
  for (const [id, name] of tokens.entries()) {
    if (vocabulary.has(name))
      throw new ArgumentError(`${owner}: ${JSON.stringify(name)} occurs twice; name each token once`);
    vocabulary.set(name, id);
  }
  return Object.fromEntries(vocabulary);
}

/** A `tokenizer.json` of a BPE without merges, which leaves single characters. */
function tokenizerJson(
  vocabulary: Record<string, number>,
  specials: Specials,
  parts: Record<string, unknown>,
): Record<string, unknown> {
  const literal = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const isSpecial = (content: string) => !specials.others.includes(content);
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: specialNames(specials).map((content) => ({
      id: vocabulary[content],
      content,
      ...literal,
      special: isSpecial(content),
    })),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: specials.begin === undefined ? null : beginProcessor(specials.begin, vocabulary),
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: specials.unknown ?? null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: vocabulary,
      merges: [],
    },
    ...parts,
  };
}

/** Template that puts the begin token before a text, and before each text of a pair. */
function beginProcessor(begin: string, vocabulary: Record<string, number>): Record<string, unknown> {
  const special = (type: number) => ({ SpecialToken: { id: begin, type_id: type } });
  const sequence = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  return {
    type: 'TemplateProcessing',
    single: [special(0), sequence('A', 0)],
    pair: [special(0), sequence('A', 0), special(1), sequence('B', 1)],
    special_tokens: { [begin]: { id: begin, ids: [vocabulary[begin]], tokens: [begin] } },
  };
}

function configJson(
  specials: Specials,
  { chatTemplate, maxLength }: z.output<typeof optionsSchema>,
): Record<string, unknown> {
  const named = {
    bos_token: specials.begin,
    eos_token: specials.end,
    pad_token: specials.padding,
    unk_token: specials.unknown,
    chat_template: chatTemplate,
    model_max_length: maxLength,
  };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    ...Object.fromEntries(given),
  };
}
