import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';

import type { TokenizerFiles } from './tokenizer-files.ts';

type Json = Readonly<Record<string, unknown>>;

/** Builds the library's tokenizer so that it does as the Rust library, of which it is a translation. */
export function libraryTokenizer({ tokenizer, config }: TokenizerFiles): HuggingFaceTokenizer {
  const { model, pre_tokenizer, decoder } = tokenizer as Readonly<Record<string, Json | null>>;
  const engine = new HuggingFaceTokenizer(
    {
      ...tokenizer,
      model: withUnknown(model!),
      ...(pre_tokenizer && { pre_tokenizer: rewritten(pre_tokenizer, preTokenizerOf) }),
      ...(decoder && { decoder: rewritten(decoder, decoderOf) }),
    },
    config,
  );
  for (const part of partsOf(engine)) correct(part);
  keepWordsWhole(engine);
  return engine;
}

/** The library drops what a BPE without an unknown token cannot spell. With a name that no token has, it gives no id. */
function withUnknown(model: Json): Json {
  const isSilent = model.merges !== undefined && model.unk_token == null;
  return isSilent ? { ...model, unk_token: '\0 not in the vocabulary' } : model;
}

/** A part of a tokenizer, and those of a sequence one by one. */
function rewritten(part: Json, rewrite: (part: Json) => Json): Json {
  const { type, pretokenizers, decoders } = part as Readonly<Record<string, Json[] | undefined>>;
  if ((type as unknown) !== 'Sequence') return rewrite(part);
  return {
    ...part,
    ...(pretokenizers && { pretokenizers: pretokenizers.map((each) => rewritten(each, rewrite)) }),
    ...(decoders && { decoders: decoders.map((each) => rewritten(each, rewrite)) }),
  };
}

const punctuation = String.raw`[\p{P}$+<=>^|~\x60]`;
const space = String.raw`\p{White_Space}`;
const word = String.raw`[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]`;
const behaviors: Readonly<Record<string, string>> = { Isolated: '', Removed: '', Contiguous: '+' };

function preTokenizerOf(part: Json): Json {
  const { type, behavior, individual_digits: areSingle } = part;
  switch (type) {
    case 'Punctuation': {
      const many = behaviors[String(behavior)];
      return many === undefined ? part : splitting(punctuation + many, String(behavior));
    }
    case 'Digits':
      return splitting(areSingle === true ? String.raw`\p{N}` : String.raw`\p{N}+`, 'Isolated');
    case 'Whitespace':
      return { ...splitting(`${word}+|[^${word.slice(1, -1)}${space}]+`, 'Removed'), invert: true };
    case 'WhitespaceSplit':
      return splitting(`${space}+`, 'Removed');
    default:
      return part;
  }
}

function splitting(expression: string, behavior: string): Json {
  return { type: 'Split', pattern: { Regex: expression }, behavior, invert: false };
}

/** The library drops a first space even if none was put there. */
function decoderOf(part: Json): Json {
  if (part.type !== 'Metaspace' || part.prepend_scheme !== 'never') return part;
  return { type: 'Replace', pattern: { String: part.replacement ?? '▁' }, content: ' ' };
}

/** Pre-tokenizers and decoders of the library, those of sequences too. */
export function partsOf(engine: HuggingFaceTokenizer): object[] {
  const { normalizer, pre_tokenizer, post_processor, decoder } = engine as unknown as Record<string, unknown>;
  const queue: unknown[] = [normalizer, pre_tokenizer, post_processor, decoder];
  const seen = new Set(queue);
  const parts: object[] = [];
  for (const part of queue) {
    if ((typeof part !== 'object' && typeof part !== 'function') || part === null) continue;
    parts.push(part);
    for (const [name, value] of Object.entries(part)) {
      if (name === 'config' || seen.has(value)) continue;
      seen.add(value);
      queue.push(value);
    }
  }
  return parts;
}

interface Part {
  pattern?: unknown;
  text_decoder?: { decode(bytes: Uint8Array): string };
  config?: { readonly type?: unknown };
}

function correct(part: Part): void {
  const { pattern, config } = part;
  if (pattern instanceof RegExp && pattern.unicode) {
    part.pattern = new RegExp(withUnicodeSpace(pattern.source), pattern.flags);
  }
  if (config?.type === 'ByteFallback') part.text_decoder = { decode: textOfBytes };
}

/** JavaScript's `\s` has U+FEFF, and lacks U+0085. */
function withUnicodeSpace(source: string): string {
  return source.replaceAll(/\\[\s\S]/g, (escaped) => {
    if (escaped === '\\s') return space;
    return escaped === '\\S' ? String.raw`\P{White_Space}` : escaped;
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of bytes, or U+FFFD for each of them if they are not text. */
function textOfBytes(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return '\uFFFD'.repeat(bytes.length);
  }
}

interface Splitter {
  split(text: string): string[];
}

const endsWithWord = new RegExp(`${word}$`, 'u');
const startsWithWord = new RegExp(`^${word}`, 'u');

/** Lets added tokens of `single_word` match whole words only. */
function keepWordsWhole(engine: HuggingFaceTokenizer): void {
  const { added_tokens_map, splitter_unnormalized, splitter_normalized } = engine as unknown as {
    readonly added_tokens_map: ReadonlyMap<string, { readonly single_word: boolean }>;
    readonly splitter_unnormalized: Splitter;
    readonly splitter_normalized: Splitter;
  };
  const isSingle = (section: string) => added_tokens_map.get(section)?.single_word === true;
  if (![...added_tokens_map.values()].some((token) => token.single_word)) return;
  for (const splitter of [splitter_unnormalized, splitter_normalized]) {
    const split = splitter.split.bind(splitter);
    splitter.split = (text) => {
      const sections = split(text);
      const kept: string[] = [];
      let wasPlain = false;
      for (const [index, section] of sections.entries()) {
        const isInWord =
          endsWithWord.test(sections[index - 1] ?? '') || startsWithWord.test(sections[index + 1] ?? '');
        const isPlain = !added_tokens_map.has(section) || (isSingle(section) && isInWord);
        if (isPlain && wasPlain) kept[kept.length - 1] += section;
        else kept.push(section);
        wasPlain = isPlain;
      }
      return kept;
    };
  }
}
