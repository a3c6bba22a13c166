import type { Message } from '@rlp/core';

/** What a simulated user is told about itself. */
export interface UserBrief {
  /** Who the user is and what they want. */
  readonly instructions: string;
  /** Text that ends the conversation. */
  readonly stop: string;
}

/** The system message of a simulated user. */
export function userPrompt({ instructions, stop }: UserBrief): string {
  return `You play the user of an assistant. You are not the assistant.

${instructions}

Rules:
- Write one message at a time, as a person types it, and nothing else.
- Tell only what the next step needs. Do not give away everything at once.
- Make nothing up. If you were not told something, say that you do not know it.
- Once you have what you want, or cannot get it, write ${stop} and nothing else.`;
}

/**
 * A conversation as the user sees it: what the user said is the model's own, what the policy said is what the model answers. System
 * messages, tool calls and their results are hidden.
 *
 * @param greeting - Stands before the user's first words, because chat templates begin with the other side.
 * @param show - What the user reads of a response.
 */
export function userSide(
  messages: readonly Message[],
  { greeting, show }: { readonly greeting: string; readonly show: (response: string) => string },
): readonly Message[] {
  const seen: Message[] = [{ role: 'user', content: greeting }];
  for (const message of messages) {
    const turned = turnedRound(message, show);
    const last = seen.at(-1)!;
    if (turned === undefined) continue;
    if (turned.role !== last.role) seen.push(turned);
    else if (seen.length === 1) seen[0] = turned;
    else seen[seen.length - 1] = { ...last, content: `${last.content}\n\n${turned.content}` };
  }
  return seen;
}

function turnedRound(
  { role, content, tool_calls: calls = [] }: Message,
  show: (response: string) => string,
): Message | undefined {
  if (role === 'user') return { role: 'assistant', content };
  if (role !== 'assistant' || calls.length > 0) return undefined;
  return { role: 'user', content: show(content).trim() || '(says nothing)' };
}
