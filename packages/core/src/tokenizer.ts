import type { Message, ToolCall } from './message.ts';
import type { TokenId } from './trajectory.ts';

/** Text to tokens and back. Pure and synchronous. */
export interface Tokenizer {
  readonly vocabularySize: number;
  /** Begins a sequence, where the vocabulary has such a token. */
  readonly bosId: TokenId | undefined;
  /** Any of these ends a completion. */
  readonly eosIds: readonly TokenId[];
  /** Tokens of a text. @param options.specialTokens - `'add'` (default) lets the tokenizer add its own, such as a leading `<s>`. */
  encode(text: string, options?: { readonly specialTokens?: 'add' | 'none' }): TokenId[];
  /** @param options.specialTokens - `'skip'` (default) leaves them out of the text. */
  decode(tokens: readonly TokenId[], options?: { readonly specialTokens?: 'skip' | 'keep' }): string;
}

/** Messages to tokens, for one chat format. */
export interface ChatRenderer {
  /** Tokens of a conversation, ready for the assistant to continue when `generationPrompt` is `'add'`. */
  render(messages: readonly Message[], options?: ChatRenderOptions): TokenId[];
  /** The text whose tokens `render` returns. Without it, callers decode those tokens. */
  renderText?(messages: readonly Message[], options?: ChatRenderOptions): string;
  /** Takes the tool calls out of what the policy said, if the format has a way to write them. */
  parseToolCalls?(text: string): { readonly text: string; readonly calls: readonly ToolCall[] };
}

/** How a conversation is rendered. */
export interface ChatRenderOptions {
  /** `'add'` (default) ends with the header of an assistant turn. */
  readonly generationPrompt?: 'add' | 'none';
  /** Function schemas offered to the model, in OpenAI shape. */
  readonly tools?: readonly unknown[];
}
