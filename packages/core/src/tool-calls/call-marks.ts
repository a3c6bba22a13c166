import type { Completion } from '../sampler.ts';
import type { Tokenizer } from '../tokenizer.ts';
import type { ToolSchema } from '../tool-schema.ts';
import type { TokenId } from '../trajectory.ts';
import { parseToolCalls } from './parse-tool-calls.ts';

/** Tokens that plain text leaves out, as far as they were asked for. */
const silent = new WeakMap<Tokenizer, Map<TokenId, boolean>>();

/**
 * A completion whose text has the special tokens that mark its calls of tools.
 *
 * Mistral, DeepSeek, Kimi and gpt-oss mark calls by special tokens, which the text of a completion leaves out. Without them nobody could
 * read the calls. Text without calls stays as it is.
 *
 * @param before - Text at the end of the prompt that begins the answer, such as the beginning of a call. Default none.
 */
export function withCallMarks(
  completion: Completion,
  tools: readonly ToolSchema[] | undefined,
  tokenizer: Tokenizer,
  before = '',
): Completion {
  if (tools === undefined || tools.length === 0) return completion;
  if (!completion.tokens.some((token) => isSilentToken(token, tokenizer))) return completion;
  const text = markedText(completion, tokenizer);
  const { calls } = parseToolCalls(before + text, tools, { unknown: 'call' });
  return calls.length > 0 ? { ...completion, text } : completion;
}

/** The text with all special tokens but the end of the turn, and without what followed a stop string. */
function markedText({ tokens, text }: Completion, tokenizer: Tokenizer): string {
  const end = tokenizer.eosIds.includes(tokens.at(-1) ?? -1) ? -1 : tokens.length;
  const said = tokens.slice(0, end);
  const marked = tokenizer.decode(said, { specialTokens: 'keep' });
  const plain = tokenizer.decode(said);
  const tail = plain.startsWith(text) ? plain.slice(text.length) : '';
  return tail !== '' && marked.endsWith(tail) ? marked.slice(0, -tail.length) : marked;
}

/** Whether plain text leaves a token out, although it does not end the completion. It may mark a call of a tool. */
export function isSilentToken(token: TokenId, tokenizer: Tokenizer): boolean {
  const known = silent.get(tokenizer) ?? new Map<TokenId, boolean>();
  silent.set(tokenizer, known);
  const before = known.get(token);
  if (before !== undefined) return before;
  const found = !tokenizer.eosIds.includes(token) && tokenizer.decode([token]) === '';
  known.set(token, found);
  return found;
}
