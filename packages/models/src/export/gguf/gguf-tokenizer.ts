import { ArgumentError, type TokenId } from '@rlp/core';
import * as z from 'zod';
import type { ModelConfig } from '../../config/model-config.ts';
import type { TextTokenizer } from '../../tokenizer/text-tokenizer.ts';
import type { GgufValue } from './write-gguf.ts';

const pieceSchema: z.ZodType<Piece> = z.lazy(() =>
  z.looseObject({
    type: z.string(),
    pattern: z.looseObject({ Regex: z.string().optional(), String: z.string().optional() }).optional(),
    use_regex: z.boolean().optional(),
    prepend_scheme: z.string().optional(),
    pretokenizers: z.array(pieceSchema).optional(),
    normalizers: z.array(pieceSchema).optional(),
  }),
);

/** A normalizer or a pre-tokenizer of `tokenizer.json`. */
interface Piece {
  readonly type: string;
  readonly pattern?:
    | { readonly Regex?: string | undefined; readonly String?: string | undefined }
    | undefined;
  readonly use_regex?: boolean | undefined;
  readonly prepend_scheme?: string | undefined;
  readonly pretokenizers?: readonly Piece[] | undefined;
  readonly normalizers?: readonly Piece[] | undefined;
}

const schema = z.looseObject({
  model: z.looseObject({
    type: z.string().optional(),
    vocab: z.union([z.record(z.string(), z.int()), z.array(z.unknown())]),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])).default([]),
    byte_fallback: z.boolean().optional(),
  }),
  added_tokens: z
    .array(z.looseObject({ id: z.int(), content: z.string(), special: z.boolean().default(false) }))
    .default([]),
  normalizer: pieceSchema.nullish(),
  pre_tokenizer: pieceSchema.nullish(),
});
type TokenizerJson = z.output<typeof schema>;

/** Kinds of tokens in the format. */
const tokenKinds = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/**
 * llama.cpp's names of pre-tokenizers, by the pattern that splits text. The patterns are those of the models' own files.
 *
 * @see https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp
 */
const splitters: Readonly<Record<string, string>> = {
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+":
    'qwen2',
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+":
    'llama-bpe',
};

/** How a tokenizer is written. */
export interface GgufTokenizerOptions {
  /** llama.cpp's name of the pre-tokenizer. Default: by the pattern in `tokenizer.json`. */
  readonly preTokenizer?: string | undefined;
}

/**
 * Metadata of a tokenizer: byte-level BPE as llama.cpp's `gpt2`, BPE of pieces with byte fallback (SentencePiece) as its `llama`.
 *
 * @throws ArgumentError for tokenizers that llama.cpp would run in another way.
 */
export function ggufTokenizer(
  tokenizer: TextTokenizer,
  config: ModelConfig,
  { preTokenizer }: GgufTokenizerOptions,
): Map<string, GgufValue> {
  const json = schema.parse(tokenizer.files.tokenizer);
  const { model } = json;
  if ((model.type ?? 'BPE') !== 'BPE' || Array.isArray(model.vocab)) {
    throw refused(`a ${model.type} tokenizer`);
  }
  const isByteLevel = pieces(json.pre_tokenizer).some(({ type }) => type === 'ByteLevel');
  const tokens = tokenList(json, model.vocab, config.vocabularySize);
  const own = isByteLevel ? byteLevel(json, tokens, preTokenizer) : sentencePieces(json, tokens);
  return new Map<string, GgufValue>([
    ...own,
    ['tokenizer.ggml.tokens', { type: 'strings', value: tokens.map(({ text }) => text) }],
    ['tokenizer.ggml.token_type', { type: 'int32s', value: tokens.map(({ kind }) => kind) }],
    ...roles(tokenizer, config, json),
  ]);
}

function refused(what: string): ArgumentError {
  return new ArgumentError(
    `exportGguf: expected a byte-level BPE tokenizer, or one of pieces with byte fallback, got ${what}; export to merged or onnx`,
  );
}

/** A piece and what it consists of, in order. */
function pieces(piece: Piece | null | undefined): readonly Piece[] {
  if (!piece) return [];
  const parts = piece.pretokenizers ?? piece.normalizers;
  return parts === undefined ? [piece] : parts.flatMap(pieces);
}

interface TokenEntry {
  readonly text: string;
  readonly kind: number;
}

/** Tokens by id. Ids without a token are unused, as in padded vocabularies. */
function tokenList(
  { added_tokens }: TokenizerJson,
  vocab: Readonly<Record<string, number>>,
  size: number,
): readonly TokenEntry[] {
  const tokens: TokenEntry[] = Array.from({ length: size }, (_, id) => {
    return { text: `[PAD${id}]`, kind: tokenKinds.unused };
  });
  for (const [text, id] of Object.entries(vocab)) {
    tokens[id] = { text, kind: /^<0x[0-9A-F]{2}>$/.test(text) ? tokenKinds.byte : tokenKinds.normal };
  }
  for (const { id, content, special } of added_tokens) {
    tokens[id] = { text: content, kind: special ? tokenKinds.control : tokenKinds.userDefined };
  }
  return tokens;
}

function byteLevel(
  json: TokenizerJson,
  tokens: readonly TokenEntry[],
  asked: string | undefined,
): [string, GgufValue][] {
  const merges = json.model.merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' ')));
  const pre = asked ?? splitterOf(json);
  if (tokens.some(({ text }) => text === '')) throw refused('a token without text');
  return [
    ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
    ['tokenizer.ggml.pre', { type: 'string', value: pre }],
    ['tokenizer.ggml.merges', { type: 'strings', value: merges }],
  ];
}

function splitterOf({ model, pre_tokenizer }: TokenizerJson): string {
  // Without merges, every byte is a token, however text is split.
  if (model.merges.length === 0) return 'gpt-2';
  const parts = pieces(pre_tokenizer);
  const [pattern, ...more] = parts.flatMap(({ pattern }) => pattern?.Regex ?? []);
  if (more.length === 0 && pattern !== undefined) {
    const known = splitters[pattern];
    if (known !== undefined) return known;
  }
  if (pattern === undefined && parts.length === 1 && parts[0]?.use_regex !== false) return 'gpt-2';
  throw new ArgumentError(
    `exportGguf: llama.cpp's name for the pattern ${JSON.stringify(pattern ?? 'none')} that splits text is not known here; pass preTokenizer, such as 'llama-bpe'`,
  );
}

/**
 * BPE of pieces, whose merges llama.cpp takes from scores: it joins the neighbours whose piece has the highest one. So a piece
 * is scored by its first merge.
 */
function sentencePieces(json: TokenizerJson, tokens: readonly TokenEntry[]): [string, GgufValue][] {
  const { model } = json;
  const parts = pieces(json.normalizer);
  const isMarked = [...parts, ...pieces(json.pre_tokenizer)].some(
    ({ type, pattern }) => type === 'Metaspace' || (type === 'Replace' && pattern?.String === ' '),
  );
  const hasBytes = tokens.filter(({ kind }) => kind === tokenKinds.byte).length === 256;
  if (!isMarked || model.byte_fallback !== true || !hasBytes) {
    throw refused('one of another kind');
  }
  const scores = new Map<string, number>();
  for (const [rank, merge] of model.merges.entries()) {
    const text = typeof merge === 'string' ? merge.replace(' ', '') : merge.join('');
    if (!scores.has(text)) scores.set(text, -rank);
  }
  const lowest = -model.merges.length - 1;
  const value = tokens.map(({ text }) => scores.get(text) ?? lowest);
  const metaspace = pieces(json.pre_tokenizer).find(({ type }) => type === 'Metaspace');
  const isPrefixed =
    parts.some(({ type }) => type === 'Prepend') ||
    (metaspace !== undefined && metaspace.prepend_scheme !== 'never');
  return [
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.pre', { type: 'string', value: 'default' }],
    ['tokenizer.ggml.scores', { type: 'float32s', value }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: isPrefixed }],
  ];
}

/** Ids of special tokens, whether text begins with one, and the chat template. */
function roles(
  tokenizer: TextTokenizer,
  { bosId, eosIds, paddingId }: ModelConfig,
  json: TokenizerJson,
): [string, GgufValue][] {
  const { config, others } = tokenizer.files;
  const bos = bosId ?? tokenizer.bosId;
  const [eos] = eosIds.length > 0 ? eosIds : tokenizer.eosIds;
  const unknown = (json.model as { readonly unk_token?: unknown }).unk_token;
  const unknownId = typeof unknown === 'string' ? tokenizer.tokenId(unknown) : undefined;
  const id = (name: string, token: TokenId | undefined): [string, GgufValue][] =>
    token === undefined ? [] : [[`tokenizer.ggml.${name}_token_id`, { type: 'uint32', value: token }]];
  const template = others?.['chat_template.jinja'] ?? config.chat_template;
  const begins = bos !== undefined && tokenizer.encode('a')[0] === bos;
  return [
    ...id('bos', bos),
    ...id('eos', eos),
    ...id('unknown', unknownId),
    ...id('padding', paddingId),
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: begins }],
    ['tokenizer.ggml.add_eos_token', { type: 'bool', value: false }],
    ...(typeof template === 'string'
      ? ([['tokenizer.chat_template', { type: 'string', value: template }]] as [string, GgufValue][])
      : []),
  ];
}
