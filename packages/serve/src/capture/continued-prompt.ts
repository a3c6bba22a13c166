import type { ChatRenderer, TokenId, Tokenizer } from '@rlp/core';
import { nextPrompt } from '@rlp/rollout';
import type { Conversation } from '../answer/request.ts';
import { type CapturedAnswer, isAnswer, isSameMessage } from './captured-answer.ts';

/** Tokens of a request's prompt. */
export interface ContinuedPrompt {
  readonly tokens: readonly TokenId[];
  /** Why they do not continue the answer. Absent if they do. */
  readonly split?: string | undefined;
}

/** The answer that a conversation goes on from. None if an agent changed earlier messages, the answer or the tools. */
export function answerBefore(
  conversation: Conversation,
  answers: readonly CapturedAnswer[],
): CapturedAnswer | undefined {
  const { length } = conversation.messages;
  return (
    answers
      .filter(({ messages }) => messages !== undefined && messages.length < length)
      // The longest, and of equal conversations the latest: an agent that asked again goes on from what it got last.
      .reverse()
      .sort((a, b) => b.messages!.length - a.messages!.length)
      .find((answer) => continues(conversation, answer))
  );
}

/** Tokens of a conversation that goes on from an answer: the very tokens of that answer go before what is new. */
export function continuedPrompt(
  { messages, tools, templateVariables }: Conversation,
  { promptTokens, completion, prefix, messages: before }: CapturedAnswer,
  { tokenizer, chat }: { readonly tokenizer: Tokenizer; readonly chat: ChatRenderer },
): ContinuedPrompt {
  const { text, ...sampled } = completion;
  const step = { ...sampled, promptTokens, text: prefix + text };
  const { tokens, reason } = nextPrompt(
    { view: messages, tools },
    { view: messages.slice(0, before!.length), step },
    { tokenizer, chat: withVariables(chat, templateVariables) },
    'sampled',
  );
  return { tokens, split: reason };
}

/** A renderer whose template always has these variables. */
function withVariables(chat: ChatRenderer, variables: Conversation['templateVariables']): ChatRenderer {
  if (variables === undefined) return chat;
  return {
    render: (messages, options) => chat.render(messages, { ...options, ...{ variables } }),
    ...(chat.renderText && {
      renderText: (messages, options) => chat.renderText!(messages, { ...options, ...{ variables } }),
    }),
  };
}

function continues(conversation: Conversation, answer: CapturedAnswer): boolean {
  const { messages, tools } = conversation;
  const before = answer.messages!;
  return (
    JSON.stringify(tools ?? []) === JSON.stringify(answer.tools ?? []) &&
    isAnswer(messages[before.length], answer) &&
    before.every((message, place) => isSameMessage(message, messages[place]))
  );
}
