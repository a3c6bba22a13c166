import type { ChatRenderer, TokenId, Tokenizer } from '@rlp/core';
import { nextPrompt } from '@rlp/rollout';
import { renderByTemplate } from '../answer/asked-request.ts';
import type { Conversation } from '../answer/request.ts';
import { type CapturedAnswer, isAnswer, isSameMessage } from './captured-answer.ts';

/** Tokens of a request's prompt. */
export interface ContinuedPrompt {
  readonly tokens: readonly TokenId[];
  /** Why they do not continue an answer that the conversation holds. Absent if they do, or if it holds none. */
  readonly split?: string | undefined;
}

/**
 * Tokens of a conversation. If it goes on from an answer of the policy, the very tokens of that answer go before what is new.
 *
 * An agent that changed earlier messages, the answer or the tools has another conversation. It is rendered from the beginning.
 */
export function continuedPrompt(
  conversation: Conversation,
  answers: readonly CapturedAnswer[],
  { tokenizer, chat }: { readonly tokenizer: Tokenizer; readonly chat: ChatRenderer },
): ContinuedPrompt {
  const { messages, tools } = conversation;
  const last = answers
    .filter((answer) => answer.messages !== undefined && answer.messages.length < messages.length)
    // The longest, and of equal conversations the latest: an agent that asked again goes on from what it got last.
    .reverse()
    .sort((a, b) => b.messages!.length - a.messages!.length)
    .find((answer) => continues(conversation, answer));
  if (last === undefined) return { tokens: renderByTemplate(conversation, chat) };
  const { promptTokens, completion, prefix } = last;
  const { text, ...sampled } = completion;
  const step = { ...sampled, promptTokens, text: prefix + text };
  const { tokens, reason } = nextPrompt(
    { view: messages, tools },
    { view: messages.slice(0, last.messages!.length), step },
    { tokenizer, chat: withVariables(chat, conversation.templateVariables) },
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
