import {
  ArgumentError,
  type ChatRenderer,
  isPromiseLike,
  type Message,
  type TokenId,
  type Tokenizer,
  type ToolSchema,
} from '@rlp/core';

/** What an environment shows the policy: text or a conversation. */
export type View = string | readonly Message[];

/** Converts a view to tokens. */
export interface Encoding {
  /** Turns text into tokens and back. */
  readonly tokenizer: Tokenizer;
  /** Needed by environments whose prompts are messages. */
  readonly chat?: ChatRenderer | undefined;
}

/**
 * Tokens of a view on its own. Throws an `ArgumentError` for messages where no chat renderer was given.
 *
 * @param tools - Tools that the environment offers. The chat template prints them.
 */
export function encodeView(
  view: View,
  { tokenizer, chat }: Encoding,
  tools?: readonly ToolSchema[],
): readonly TokenId[] {
  if (typeof view === 'string') return tokenizer.encode(view);
  if (!Array.isArray(view)) {
    const given: unknown = view;
    const shown = isPromiseLike(given) ? 'a promise, which it must not return' : String(given);
    throw new ArgumentError(`expected a prompt of text or a list of messages, got ${shown}`);
  }
  if (chat === undefined) {
    throw new ArgumentError(
      'RolloutManager: the environment builds prompts of messages, which need a chat renderer: pass `chat: model.chat`, or use prompts of text if the model has no chat template',
    );
  }
  return chat.render(view, tools && { tools });
}
