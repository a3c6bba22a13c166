import type { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { ArgumentError, FormatError, requireArguments, type TokenId, type Tokenizer } from '@rlp/core';
import * as z from 'zod';

import { configError, parseContent } from '../config/validation.ts';
import { limitedBy } from './expressions.ts';
import { libraryTokenizer } from './library-differences.ts';
import type { TokenizerFiles, TokenRoles } from './tokenizer-files.ts';

/** A tokenizer that also knows its vocabulary by name and the files it came from. */
export interface TextTokenizer extends Tokenizer {
  /** Id of a token, spelled as in the vocabulary. */
  tokenId(token: string): TokenId | undefined;
  /** Spelling of a token in the vocabulary. */
  tokenText(id: TokenId): string | undefined;
  /** Content of the tokenizer's files, saved with a model. */
  readonly files: TokenizerFiles;
}

/** Largest id that a token can have: vocabularies of models are far smaller. */
const maxId = 2 ** 24;
const id = z
  .int('expected a token id, a whole number from 0')
  .nonnegative('expected a token id, a whole number from 0')
  .max(maxId, `expected a token id of at most ${maxId}`);
const tokenizerSchema = z.looseObject({
  model: z.looseObject({
    type: z.enum(['BPE', 'Unigram', 'WordPiece'], 'only BPE, Unigram and WordPiece are supported').optional(),
    vocab: z.union([z.record(z.string(), id), z.array(z.tuple([z.string(), z.number()], z.unknown()))]),
    unk_id: id.nullish(),
  }),
  added_tokens: z.array(z.looseObject({ id, content: z.string() })).default([]),
});

const namedToken = z
  .union(
    [z.string(), z.looseObject({ content: z.string() }).transform((token) => token.content)],
    'expected a token',
  )
  .nullish();
const template = z
  .union(
    [z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))],
    'expected a template or a list of named ones',
  )
  .nullish();
const configSchema = z.looseObject({
  bos_token: namedToken,
  eos_token: namedToken,
  chat_template: template,
});

/**
 * Builds a tokenizer from the parsed content of `tokenizer.json` and `tokenizer_config.json`.
 *
 * @param origin - Where the files lie, for error messages.
 * @param roles - Begin and end tokens that override those of `tokenizer_config.json`.
 * @throws FormatError naming the file and the field if they are malformed. `encode` throws an ArgumentError for text that the
 *   vocabulary cannot spell.
 */
export function textTokenizer(files: TokenizerFiles, origin: string, roles: TokenRoles = {}): TextTokenizer {
  requireArguments(
    'textTokenizer',
    { files: 'object', origin: 'text', roles: 'object?' },
    files,
    origin,
    roles,
  );
  const parsed = parseContent(tokenizerSchema, files.tokenizer, `${origin}/tokenizer.json`);
  const config = parseContent(configSchema, files.config, `${origin}/tokenizer_config.json`);
  checkUnknown(parsed.model, `${origin}/tokenizer.json`);
  const { engine, limited } = createEngine(files, origin);
  const idOf = (token: string | null | undefined) => (token == null ? undefined : engine.token_to_id(token));
  const eosId = idOf(config.eos_token);
  const vocabulary = parsed.model.vocab;
  const ids = Array.isArray(vocabulary) ? [vocabulary.length - 1] : Object.values(vocabulary);
  const added = parsed.added_tokens.map((token) => token.id);
  return {
    vocabularySize: [...ids, ...added].reduce((largest, each) => Math.max(largest, each), -1) + 1,
    bosId: roles.bosId ?? idOf(config.bos_token),
    eosIds: roles.eosIds ?? (eosId === undefined ? [] : [eosId]),
    encode: (text, options) =>
      limited('encode', text, () => encode(engine, text, options?.specialTokens ?? 'add')),
    decode: (tokens, options) =>
      limited('decode', tokens, () => decode(engine, tokens, options?.specialTokens ?? 'skip')),
    tokenId: idOf,
    tokenText: (token) => engine.id_to_token(token),
    files,
  };
}

function isId(id: unknown): boolean {
  return Number.isInteger(id) && (id as number) >= 0;
}

/** The unknown token of a Unigram model is a place in its list. */
function checkUnknown(
  { vocab, unk_id: unknown }: z.output<typeof tokenizerSchema>['model'],
  file: string,
): void {
  if (unknown == null || !Array.isArray(vocab) || unknown < vocab.length) return;
  throw configError(
    file,
    'model.unk_id',
    `token ${unknown} is not among the ${vocab.length} of the vocabulary`,
  );
}

/** The library returns no number for a token that the vocabulary lacks. */
function encode(engine: HuggingFaceTokenizer, text: string, specialTokens: 'add' | 'none'): TokenId[] {
  const { ids } = engine.encode(text, { add_special_tokens: specialTokens === 'add' });
  if (ids.every(isId)) return ids;
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  throw new ArgumentError(
    `encode: ${shown} holds what the vocabulary lacks, and it has no unknown token; leave those characters out, or use a tokenizer that has them`,
  );
}

function decode(
  engine: HuggingFaceTokenizer,
  tokens: readonly TokenId[],
  specialTokens: 'skip' | 'keep',
): string {
  const known = tokens.filter((token) => engine.id_to_token(token) !== undefined);
  if (known.length === 0) return '';
  return engine.decode(known, {
    skip_special_tokens: specialTokens === 'skip',
    clean_up_tokenization_spaces: false,
  });
}

/** The library's tokenizer, tried once, and the limits that its files need. */
function createEngine(files: TokenizerFiles, origin: string) {
  try {
    const engine = libraryTokenizer(files);
    const limited = limitedBy(engine, origin);
    limited('encode', 'a', () => {
      const given: readonly unknown[] = engine.encode('a').ids;
      const wrong = given.find((each) => typeof each === 'number' && !isId(each));
      if (wrong !== undefined)
        throw new Error(`it begins or ends texts with ${String(wrong)}, which is not a token id`);
      const ids = given.filter(isId) as TokenId[];
      if (ids.length > 0) engine.decode(ids);
    });
    return { engine, limited };
  } catch (cause) {
    if (cause instanceof FormatError) throw cause;
    const problem = `not a tokenizer that can be used (${(cause as Error).message})`;
    throw new FormatError(`${origin}/tokenizer.json: ${problem}; save it again with the tokenizers library`, {
      cause,
    });
  }
}
