import {
  ArgumentError,
  type ChatRenderer,
  type Message,
  type Step,
  type TokenId,
  type Tokenizer,
} from '@rlp/core';

/** What an environment shows the policy: text, or a conversation. */
export type View = string | readonly Message[];

/** What turns a view into tokens. */
export interface Encoding {
  readonly tokenizer: Tokenizer;
  /** Needed by environments whose prompts are messages. */
  readonly chat?: ChatRenderer | undefined;
}

/** Tokens of one turn's prompt, and whether they continue the tokens before. */
export interface TurnPrompt {
  readonly tokens: readonly TokenId[];
  readonly continuity: 'first' | 'extended' | 'split';
}

/** Tokens of a view on its own. Throws an `ArgumentError` for messages where no chat renderer was given. */
export function encodeView(view: View, { tokenizer, chat }: Encoding): readonly TokenId[] {
  if (typeof view === 'string') return tokenizer.encode(view);
  if (chat === undefined) {
    throw new ArgumentError(
      'RolloutManager: the environment builds prompts of messages, which need a chat renderer: pass `chat`',
    );
  }
  return chat.render(view);
}

/**
 * Tokens of the next turn's prompt. What was sampled is never tokenised again: where the new prompt, as text, continues
 * the last turn's prompt and response, only what follows is encoded and appended to the very tokens sampled. Where it
 * does not (a template that rewrites history, an environment that shows something else), the new prompt stands alone.
 */
export function nextPrompt(view: View, last: Step, encoding: Encoding): TurnPrompt {
  const { tokenizer } = encoding;
  const fresh = encodeView(view, encoding);
  const context = [...last.promptTokens, ...last.tokens];
  if (startsWith(fresh, context)) return { tokens: fresh, continuity: 'extended' };

  const freshText = tokenizer.decode(fresh, { specialTokens: 'keep' });
  const contextText = tokenizer.decode(context, { specialTokens: 'keep' });
  if (freshText.startsWith(contextText)) {
    const addition = tokenizer.encode(freshText.slice(contextText.length), { specialTokens: 'none' });
    const extended = [...context, ...addition];
    const isFaithful = tokenizer.decode(extended, { specialTokens: 'keep' }) === freshText;
    if (isFaithful) return { tokens: extended, continuity: 'extended' };
  }
  return { tokens: fresh, continuity: 'split' };
}

function startsWith(tokens: readonly TokenId[], prefix: readonly TokenId[]): boolean {
  return tokens.length >= prefix.length && prefix.every((token, index) => tokens[index] === token);
}

/** The conversation after a turn: what the policy saw, as messages, and its answer. */
export function conversationAfter(before: readonly Message[], view: View, response: string): Message[] {
  const answer: Message = { role: 'assistant', content: response };
  if (typeof view !== 'string') return [...view, answer];
  const seen = before.map(({ content }) => content).join('');
  const isContinued = before.length > 0 && view.startsWith(seen);
  const content = isContinued ? view.slice(seen.length) : view;
  return [...before, ...(content === '' ? [] : [{ role: 'user' as const, content }]), answer];
}
