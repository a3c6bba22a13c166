import * as z from 'zod';
import { plainRecord } from './field-names.ts';
import { requireArguments } from './options/require-arguments.ts';

/** A call of a tool that the assistant asked for. OpenAI wire shape: `arguments` is JSON text. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** One turn of a conversation, in the shape of the OpenAI chat API. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly name?: string | undefined;
  /** Set on assistant turns that call tools. */
  readonly tool_calls?: readonly ToolCall[] | undefined;
  /** Set on tool turns: the call they answer. */
  readonly tool_call_id?: string | undefined;
  /** The older form of a single tool call. New code writes `tool_calls`. */
  readonly function_call?: { readonly name: string; readonly arguments: string } | undefined;
}

/** A prompt as a conversation: text is what a user says. */
export function promptMessages(prompt: string | readonly Message[]): readonly Message[] {
  return typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt;
}

/** A prompt as text: the contents of its messages, a line each. */
export function promptText(prompt: string | readonly Pick<Message, 'content'>[]): string {
  return typeof prompt === 'string' ? prompt : prompt.map(({ content }) => content).join('\n');
}

/**
 * A conversation as text for a reader: `role: content`, with a blank line between turns, and tool calls as `calls name(arguments)`. Further lines of a
 * turn are indented, so no content looks like a turn. Text stays as it is.
 */
export function conversationText(messages: string | readonly Message[]): string {
  if (typeof messages === 'string') return messages;
  requireArguments('conversationText', { messages: 'objects' }, messages);
  const turns = messages.map(({ role, content, tool_calls: calls }) => {
    // The API writes null in place of no calls.
    const made = (calls ?? []).map(({ function: { name, arguments: given } }) => `calls ${name}(${given})`);
    const lines = [...(content === '' && made.length > 0 ? [] : [content]), ...made].join('\n');
    return `${role}: ${lines.replace(/\r\n?|[\n\v\f\u2028\u2029]/g, '\n  ')}`;
  });
  return turns.join('\n\n');
}

/** Schema of {@link ToolCall}. */
export const toolCallSchema: z.ZodType<ToolCall> = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

/**
 * Schema of {@link Message}. The API answers with `content: null` where an assistant only calls tools: that is read as `''`. Further
 * fields of the API are left out.
 */
export const messageSchema = plainRecord({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z
    .string()
    .nullable()
    .transform((content) => content ?? ''),
  name: z.string().optional(),
  tool_calls: z.array(toolCallSchema).optional(),
  tool_call_id: z.string().optional(),
  function_call: z.object({ name: z.string(), arguments: z.string() }).optional(),
}) as unknown as z.ZodType<Message>;
