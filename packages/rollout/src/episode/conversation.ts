import type { ChatRenderer, Message, Step } from '@rlp/core';
import type { View } from './context.ts';

/** What a view adds to a conversation. */
export interface Addition {
  /** New text or messages since the last answer, or the whole view if it rewrites the history. */
  readonly observation: View;
  /** The conversation with the view, before the answer. */
  readonly messages: readonly Message[];
}

/** The conversation as a view shows it. Text that continues the conversation is what the user said since. */
export function withView(before: readonly Message[], view: View): Addition {
  if (typeof view === 'string') {
    const observation = continuedText(before, view) ?? view;
    return {
      observation,
      messages: observation === '' ? before : [...before, { role: 'user', content: observation }],
    };
  }
  return { observation: isContinued(before, view) ? view.slice(before.length) : view, messages: view };
}

/** The whole conversation once the episode ended, with what the last view adds to it. */
export function withLastView(conversation: readonly Message[], view: View | undefined): readonly Message[] {
  if (view === undefined) return conversation;
  const continues =
    typeof view === 'string'
      ? continuedText(conversation, view) !== undefined
      : isContinued(conversation, view);
  return continues ? withView(conversation, view).messages : conversation;
}

/**
 * Adds tool calls to the conversation and to the steps of an episode. The calls are those of the environment's messages. If there are none,
 * the chat format reads calls from the text.
 */
export function withToolCalls(
  conversation: readonly Message[],
  steps: readonly Step[],
  chat: ChatRenderer | undefined,
): { readonly messages: readonly Message[]; readonly steps: readonly Step[] } {
  const places = conversation.flatMap(({ role }, place) => (role === 'assistant' ? [place] : []));
  const written = places.slice(places.length - steps.length);
  if (places.length < steps.length) return { messages: conversation, steps };
  const messages = [...conversation];
  for (const place of written) messages[place] = withCalls(messages[place]!, chat);
  return {
    messages,
    steps: steps.map((step, index) => {
      const toolCalls = messages[written[index]!]!.tool_calls;
      return toolCalls === undefined || toolCalls.length === 0 ? step : { ...step, toolCalls };
    }),
  };
}

/** A message with the calls that its text holds. */
export function withCalls(message: Message, chat: ChatRenderer | undefined): Message {
  if (message.tool_calls !== undefined) return message;
  const { text: content, calls } = chat?.parseToolCalls?.(message.content) ?? { text: '', calls: [] };
  return calls.length === 0 ? message : { ...message, content, tool_calls: calls };
}

/** What `view` adds to the text of the conversation, or `undefined` if it does not continue it. */
function continuedText(before: readonly Message[], view: string): string | undefined {
  const seen = before.map(({ content }) => content).join('');
  return before.length > 0 && view.startsWith(seen) ? view.slice(seen.length) : undefined;
}

/** Whether the messages begin with the conversation so far. The environment may reword the last answer. */
function isContinued(before: readonly Message[], view: readonly Message[]): boolean {
  if (before.length === 0 || view.length < before.length) return false;
  return before.every(({ role, content }, place) => {
    const shown = view[place]!;
    return shown.role === role && (shown.content === content || role === 'assistant');
  });
}
