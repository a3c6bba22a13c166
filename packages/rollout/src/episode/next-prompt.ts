import {
  type ChatRenderer,
  type Message,
  requireFields,
  type Step,
  type TokenId,
  type Tokenizer,
  type ToolSchema,
  turnContinuation,
} from '@rlp/core';

import { type Encoding, encodeView, type View } from './context.ts';

/** Tokens of one turn's prompt, and whether they continue the tokens before. */
export interface TurnPrompt {
  readonly tokens: readonly TokenId[];
  readonly continuity: 'first' | 'extended' | 'split';
  /** Why the prompt does not continue the tokens before it. */
  readonly reason?: string | undefined;
}

/** What the policy is shown next. */
export interface NextView {
  readonly view: View;
  /** Tools that the environment offers. */
  readonly tools?: readonly ToolSchema[] | undefined;
}

/** What the last turn showed the policy, and what the policy did. */
export interface LastTurn {
  readonly view: View;
  readonly step: Step;
}

/**
 * Tokens of the next turn's prompt. Sampled tokens are never tokenised again.
 *
 * With `history: 'sampled'`, a conversation is extended by what its template writes after the assistant's turn. With `'template'`, and for
 * prompts of plain text, the whole prompt is rendered, and only the part after the last response is appended. If neither continues the
 * tokens so far, the prompt stands alone.
 */
export function nextPrompt(
  next: NextView,
  last: LastTurn,
  encoding: Encoding,
  history: 'sampled' | 'template',
): TurnPrompt {
  requireFields('nextPrompt: next', { view: 'given' }, next);
  requireFields('nextPrompt: last', { step: 'object' }, last);
  requireFields('nextPrompt: encoding', { tokenizer: 'object' }, encoding);
  const context = contextOf(last.step, encoding.tokenizer);
  const sampled = history === 'sampled' ? sampledHistory(next, last, encoding, context) : undefined;
  if (Array.isArray(sampled)) return { tokens: sampled, continuity: 'extended' };

  const fresh = encodeView(next.view, encoding, next.tools);
  const tokens = renderedHistory(fresh, context, encoding.tokenizer);
  if (tokens !== undefined) return { tokens, continuity: 'extended' };
  const reason = sampled ?? 'the rendered prompt does not begin with the last prompt and response';
  return { tokens: fresh, continuity: 'split', reason };
}

/** Prompt and completion of a turn, and their text with special tokens. */
interface Context {
  readonly tokens: readonly TokenId[];
  readonly text: string;
}

/** Texts of prompts that were made here, so that a conversation is not decoded from its start at each turn. */
const promptTexts = new WeakMap<
  readonly TokenId[],
  { readonly tokenizer: Tokenizer; readonly text: string }
>();

function contextOf({ promptTokens, tokens }: Step, tokenizer: Tokenizer): Context {
  const whole = [...promptTokens, ...tokens];
  const known = promptTexts.get(promptTokens);
  const said = known?.tokenizer === tokenizer ? textBehind(promptTokens, tokens, tokenizer) : undefined;
  const text = said === undefined ? tokenizer.decode(whole, { specialTokens: 'keep' }) : known!.text + said;
  return { tokens: whole, text };
}

/** Tokens before a text that its decoding can depend on. Characters and the space before a word are shorter. */
const nearTokens = 32;

/** Text that tokens add to the text of those before. Undefined if they change that text. */
function textBehind(
  before: readonly TokenId[],
  tokens: readonly TokenId[],
  tokenizer: Tokenizer,
): string | undefined {
  const near = before.slice(-nearTokens);
  const text = tokenizer.decode(near, { specialTokens: 'keep' });
  const both = tokenizer.decode([...near, ...tokens], { specialTokens: 'keep' });
  return both.startsWith(text) ? both.slice(text.length) : undefined;
}

/**
 * The context with what the template writes after the last response, or why that is impossible. Undefined for plain text.
 *
 * If the rendered conversation continues the context, it is used as it is. Otherwise the template rewrites history, and a marker finds the
 * text after the response.
 */
function sampledHistory(
  { view, tools }: NextView,
  last: LastTurn,
  { tokenizer, chat }: Encoding,
  context: Context,
): TokenId[] | string | undefined {
  if (chat === undefined || typeof view === 'string' || typeof last.view === 'string') return undefined;
  const render = textRenderer(chat, tokenizer, tools);
  const addition = continued(render(view, 'add'), context);
  const extended = addition === undefined ? undefined : append(context, addition, tokenizer);
  if (extended !== undefined) return extended;

  const turn = last.view.length;
  if (!last.view.every((message, index) => isSameMessage(message, view[index]))) {
    return 'the environment changed earlier messages';
  }
  if (!isTurn(view[turn], last.step.text)) return "the environment changed the assistant's message";

  const continuation = turnContinuation(render, view, turn);
  if (continuation.refusal !== undefined) return continuation.refusal;
  return (
    append(context, afterEnding(continuation, last.step, tokenizer), tokenizer) ??
    'the tokenizer does not decode the continuation as it was rendered'
  );
}

/** The context with what the rendered prompt adds to it. Undefined if the prompt does not begin with the context. */
function renderedHistory(
  fresh: readonly TokenId[],
  context: Context,
  tokenizer: Tokenizer,
): readonly TokenId[] | undefined {
  if (startsWith(fresh, context.tokens)) return fresh;
  const addition = continued(tokenizer.decode(fresh, { specialTokens: 'keep' }), context);
  return addition === undefined ? undefined : append(context, addition, tokenizer);
}

/** What a text adds to the context. Undefined if it does not begin with it. */
function continued(text: string, context: Context): string | undefined {
  return text.startsWith(context.text) ? text.slice(context.text.length) : undefined;
}

/**
 * The tokens of `addition` appended to the context. Undefined unless the result decodes to exactly both texts.
 *
 * Tokenizers treat the start of a text differently. So the addition is also tried after the last token and after an end token.
 */
function append({ tokens, text }: Context, addition: string, tokenizer: Tokenizer): TokenId[] | undefined {
  if (addition === '') return [...tokens];
  const anchors = [
    ...tokens.slice(-1).filter((token) => isSpecial(token, tokenizer)),
    undefined,
    ...tokenizer.eosIds,
  ];
  for (const anchor of anchors) {
    const added = encodeBehind(anchor, addition, tokenizer);
    if (added === undefined || textBehind(tokens, added, tokenizer) !== addition) continue;
    const extended = [...tokens, ...added];
    promptTexts.set(extended, { tokenizer, text: text + addition });
    return extended;
  }
  return undefined;
}

function encodeBehind(
  anchor: TokenId | undefined,
  text: string,
  tokenizer: Tokenizer,
): TokenId[] | undefined {
  if (anchor === undefined) return tokenizer.encode(text, { specialTokens: 'none' });
  const before = tokenizer.decode([anchor], { specialTokens: 'keep' });
  const [first, ...rest] = tokenizer.encode(before + text, { specialTokens: 'none' });
  return first === anchor ? rest : undefined;
}

/**
 * The continuation without the end of the turn that was already sampled.
 *
 * A response that ended with an end token contains its turn's end up to that token. One that ended with a stop string may contain the
 * beginning of the continuation. One that was cut by its length contains none of it.
 */
function afterEnding(
  { turnEnd, text }: { readonly turnEnd: string; readonly text: string },
  { tokens, text: said, stopReason }: Step,
  tokenizer: Tokenizer,
): string {
  const last = tokens.at(-1);
  if (stopReason !== 'stop' || last === undefined) return text;
  const end = isSpecial(last, tokenizer) ? tokenizer.decode([last], { specialTokens: 'keep' }) : '';
  const at = end === '' ? -1 : turnEnd.indexOf(end);
  if (at >= 0) return text.slice(at + end.length);
  const written = tokenizer.decode(tokens, { specialTokens: 'keep' });
  if (written === said) return text;
  let overlap = Math.min(written.length, text.length);
  while (!written.endsWith(text.slice(0, overlap))) overlap -= 1;
  return text.slice(overlap);
}

/** Whether a token ends a completion or is left out of plain text. */
function isSpecial(token: TokenId, tokenizer: Tokenizer): boolean {
  return tokenizer.eosIds.includes(token) || tokenizer.decode([token]) === '';
}

/** Whether a message is what the assistant said, as the same text or as calls read from it. */
function isTurn(message: Message | undefined, text: string): boolean {
  if (message?.role !== 'assistant') return false;
  const content = message.content.trim();
  if (content === text.trim()) return true;
  const calls = message.tool_calls ?? [];
  return (
    calls.length > 0 &&
    isRest(content, text.trim()) &&
    calls.every(({ function: { name } }) => text.includes(name))
  );
}

/** Whether a content is a text without its calls: both ends of the text, or some of its lines in order. */
function isRest(content: string, text: string): boolean {
  let from = 0;
  while (from < content.length && content[from] === text[from]) from += 1;
  if (text.slice(from).endsWith(content.slice(from))) return true;
  let at = 0;
  return content.split('\n').every((line) => {
    const found = text.indexOf(line.trim(), at);
    at = found + line.trim().length;
    return found >= 0;
  });
}

function isSameMessage(before: Message, now: Message | undefined): boolean {
  return before === now || (now !== undefined && canonical(before) === canonical(now));
}

function canonical({ role, content, name, tool_calls: calls, tool_call_id: id }: Message): string {
  return JSON.stringify([role, content, name, calls, id]);
}

function textRenderer(chat: ChatRenderer, tokenizer: Tokenizer, tools: readonly ToolSchema[] | undefined) {
  return (messages: readonly Message[], generationPrompt: 'add' | 'none') => {
    const options = { generationPrompt, ...(tools && { tools }) };
    return (
      chat.renderText?.(messages, options) ??
      tokenizer.decode(chat.render(messages, options), { specialTokens: 'keep' })
    );
  };
}

function startsWith(tokens: readonly TokenId[], prefix: readonly TokenId[]): boolean {
  return prefix.every((token, index) => tokens[index] === token);
}
