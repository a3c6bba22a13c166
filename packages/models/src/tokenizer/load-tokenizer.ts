import { callback, FormatError, parseOptions, requireFields } from '@rlp/core';
import type * as z from 'zod';
import { chatRenderer, type TemplateChatRenderer } from '../chat/chat-renderer.ts';
import { generationSchema } from '../config/schemas.ts';
import { parseContent } from '../config/validation.ts';
import { modelFolder, modelFolderSchema } from '../hub/model-folder.ts';
import { folderTexts, jsonOf, type ModelTexts } from '../model/model-texts.ts';
import { type TextTokenizer, textTokenizer } from './text-tokenizer.ts';
import type { TokenizerFiles, TokenRoles } from './tokenizer-files.ts';

/** Schema of {@link LoadTokenizerOptions}. */
export const loadTokenizerSchema = modelFolderSchema.omit({ part: true }).extend({
  /** Clock for chat templates that print the date; see `chatRenderer`. Default none. */
  clock: callback<() => Date>().optional(),
});

/** Options of {@link loadTokenizer}. */
export interface LoadTokenizerOptions extends z.input<typeof loadTokenizerSchema> {}

/** A tokenizer, with a chat renderer if the folder holds a chat template. */
export interface LoadedTokenizer {
  readonly tokenizer: TextTokenizer;
  readonly chat: TemplateChatRenderer | undefined;
}

/**
 * Loads `tokenizer.json` and, if present, `tokenizer_config.json`, `chat_template.jinja` and the end tokens of
 * `generation_config.json` from a folder, or of a model on the hub.
 *
 * @throws FormatError naming the file, the field and a remedy if `tokenizer.json` is missing or a file is malformed.
 * @throws OptionsError naming every option that is unknown or unfit.
 */
export async function loadTokenizer(
  source: string,
  options: LoadTokenizerOptions = {},
): Promise<LoadedTokenizer> {
  const { hub, signal, ...rest } = parseOptions(
    'loadTokenizer',
    loadTokenizerSchema,
    options,
    'LoadTokenizerOptions',
  );
  const folder = await modelFolder(source, { hub, signal, part: 'tokenizer' });
  return readTokenizer(folderTexts(folder), rest);
}

/** Loads a tokenizer from texts; see {@link loadTokenizer}. */
export async function readTokenizer(
  texts: ModelTexts,
  options: Pick<LoadTokenizerOptions, 'clock'> = {},
): Promise<LoadedTokenizer> {
  const { origin } = texts;
  const json = await jsonOf(texts, 'tokenizer.json');
  if (!json) {
    const remedy = 'save the tokenizer with transformers (fast tokenizer) into this folder';
    throw new FormatError(`${texts.pathOf('tokenizer.json')}: no such file; ${remedy}`);
  }
  const config = (await jsonOf(texts, 'tokenizer_config.json')) ?? {};
  const others = await readOthers(texts);
  const tokenizer = textTokenizer({ tokenizer: json, config, others }, origin, await readRoles(texts));
  return { tokenizer, chat: tokenizerChat(tokenizer, { ...options, origin }) };
}

/** Creates the chat renderer of a tokenizer, or returns `undefined` if its files hold no template. */
export function tokenizerChat(
  tokenizer: TextTokenizer,
  options: Pick<LoadTokenizerOptions, 'clock'> & { readonly origin?: string } = {},
): TemplateChatRenderer | undefined {
  requireFields('tokenizerChat', { files: 'object' }, tokenizer);
  const template = chatTemplate(tokenizer.files);
  if (template === undefined) return undefined;
  return chatRenderer(tokenizer, template, {
    ...options,
    variables: specialVariables(tokenizer.files.config),
  });
}

/** The default template. `chat_template.jinja` overrides the config. Of several named templates, `default` is used. */
function chatTemplate({ config, others }: TokenizerFiles): string | undefined {
  const template = others?.['chat_template.jinja'] ?? config.chat_template;
  if (typeof template === 'string') return template;
  if (!Array.isArray(template)) return undefined;
  const named = template as { readonly name?: unknown; readonly template?: unknown }[];
  const chosen = named.find((each) => each?.name === 'default')?.template;
  return typeof chosen === 'string' ? chosen : undefined;
}

/** `bos_token`, `eos_token` and their like, as templates use them. */
function specialVariables(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const name of ['bos_token', 'eos_token', 'pad_token', 'unk_token']) {
    const token = config[name] as string | { readonly content?: unknown } | null | undefined;
    const content = typeof token === 'string' ? token : token?.content;
    if (typeof content === 'string') variables[name] = content;
  }
  return variables;
}

const OTHER_FILES = ['special_tokens_map.json', 'added_tokens.json', 'chat_template.jinja'] as const;

async function readOthers({ read }: ModelTexts): Promise<Record<string, string>> {
  const entries = await Promise.all(OTHER_FILES.map(async (name) => [name, await read(name)] as const));
  return Object.fromEntries(
    entries.filter((entry): entry is [(typeof entry)[0], string] => entry[1] !== undefined),
  );
}

/** Begin and end tokens of the folder's `generation_config.json`. */
async function readRoles(texts: ModelTexts): Promise<TokenRoles> {
  const file = 'generation_config.json';
  const fields = parseContent(generationSchema, (await jsonOf(texts, file)) ?? {}, texts.pathOf(file));
  return { bosId: fields.bos_token_id, eosIds: fields.eos_token_id };
}
