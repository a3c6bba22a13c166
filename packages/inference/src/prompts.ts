import { ArgumentError, type ChatRenderer, type Message, type TokenId, type Tokenizer } from '@rlp/core';

/** Text, a conversation for the assistant to continue, or tokens. */
export type Prompt = string | readonly Message[] | readonly TokenId[];

/** Text or tokens. */
export type Response = string | readonly TokenId[];

/** Converts text to tokens. */
export interface Codec {
  readonly tokenizer: Tokenizer;
  readonly renderer?: ChatRenderer | undefined;
}

function isTokens(value: readonly Message[] | readonly TokenId[]): value is readonly TokenId[] {
  return typeof value[0] === 'number';
}

/**
 * Tokens of a prompt. Text gets the special tokens of the tokenizer. A conversation gets those of its chat template.
 *
 * @param tools - Function schemas that the chat template shows to the model.
 * @throws ArgumentError for an empty list, for messages to a model without a chat template, or for anything else.
 */
export function promptTokens(
  { tokenizer, renderer }: Codec,
  prompt: Prompt,
  tools?: readonly unknown[],
): readonly TokenId[] {
  if (typeof prompt === 'string') return tokenizer.encode(prompt);
  if (!Array.isArray(prompt)) {
    throw new ArgumentError(`prompt: expected text, messages or tokens, got ${typeof prompt}`);
  }
  if (prompt.length === 0) {
    throw new ArgumentError('prompt: expected text, at least one message or at least one token, got []');
  }
  if (isTokens(prompt)) return prompt;
  if (renderer === undefined) {
    throw new ArgumentError(
      'prompt: got messages, but this model has no chat template; pass a renderer, or a prompt as text',
    );
  }
  return tools === undefined ? renderer.render(prompt) : renderer.render(prompt, { tools });
}

/**
 * Tokens of a response to a prompt.
 *
 * Two texts are encoded together if the prompt keeps its tokens, so that no extra space appears before the response. Otherwise the response
 * is encoded alone. Pass sampled responses as tokens, because encoding their text again may give other tokens.
 */
export function responseTokens(codec: Codec, prompt: Prompt, response: Response): readonly TokenId[] {
  if (typeof response !== 'string') {
    if (Array.isArray(response)) return response;
    throw new ArgumentError(`response: expected text or tokens, got ${typeof response}`);
  }
  if (typeof prompt === 'string') {
    const before = codec.tokenizer.encode(prompt);
    const together = codec.tokenizer.encode(prompt + response);
    if (before.every((token, index) => together[index] === token)) return together.slice(before.length);
  }
  return codec.tokenizer.encode(response, { specialTokens: 'none' });
}
