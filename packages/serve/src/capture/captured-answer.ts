import type { Completion, Message, TokenId, ToolCall, ToolSchema } from '@rlp/core';

/** A request of an agent and what the policy answered. */
export interface CapturedAnswer {
  /** The prompt exactly as it was sampled from. Shape: `[P]`. */
  readonly promptTokens: readonly TokenId[];
  readonly completion: Completion;
  /** Conversation that the agent sent. Absent if it sent text or tokens. */
  readonly messages?: readonly Message[] | undefined;
  readonly tools?: readonly ToolSchema[] | undefined;
  /** Text that the agent got, without calls. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Beginning of the answer that the agent forced. */
  readonly prefix: string;
  /** Milliseconds from the request to the completion. Absent without a clock. */
  readonly sampleMs?: number | undefined;
}

/** The answer as a message of the conversation. */
export function answerMessage({ text, calls }: Pick<CapturedAnswer, 'text' | 'calls'>): Message {
  return { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** Whether a message is what the agent got, as an agent passes it on. */
export function isAnswer(message: Message | undefined, { text, calls }: CapturedAnswer): boolean {
  if (message?.role !== 'assistant' || message.content.trim() !== text.trim()) return false;
  const passed = message.tool_calls ?? [];
  return passed.length === calls.length && calls.every((call, place) => isSameCall(call, passed[place]!));
}

/** Whether a later request shows a message of an earlier one unchanged. */
export function isSameMessage(before: Message, now: Message | undefined): boolean {
  return now !== undefined && canonical(before) === canonical(now);
}

function isSameCall(call: ToolCall, passed: ToolCall): boolean {
  const { name, arguments: given } = call.function;
  return name === passed.function.name && plainJson(given) === plainJson(passed.function.arguments);
}

function canonical({ role, content, name, tool_calls: calls = [], tool_call_id: id }: Message): string {
  const called = calls.map(({ id: own, function: { name: tool, arguments: given } }) => [
    own,
    tool,
    plainJson(given),
  ]);
  return JSON.stringify([role, content.trim(), name, called, id]);
}

/** JSON text without its white space. Clients parse arguments and write them again. */
function plainJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
