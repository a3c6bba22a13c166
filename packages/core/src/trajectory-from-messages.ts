import * as z from 'zod';
import { described } from './described.ts';
import { ArgumentError, FormatError } from './errors.ts';
import { isRecord } from './is-record.ts';
import { type Message, messageSchema } from './message.ts';
import { requireFields } from './options/require-arguments.ts';
import { inWords } from './options/wording.ts';
import { chatMessages } from './recorded-messages/chat-messages.ts';
import type { Trajectory } from './trajectory.ts';

/** A conversation that some other program recorded. */
export interface RecordedConversation<Metadata = unknown> {
  /** Names the trajectory and its task. */
  readonly id: string;
  /**
   * In the shape of the OpenAI chat API, and checked, as it comes from outside. What is `null` counts as absent, absent content as
   * empty. Parts that are text are joined. A refusal is what the assistant said, and so is the transcript of audio. A developer's
   * messages are the system's, a function's are a tool's. Parts that are calls or results of tools are read, also as Anthropic's API,
   * the AI SDK with its `UIMessage`, and OpenTelemetry have them. Reasoning, sources and approvals are left out.
   */
  readonly messages: readonly unknown[];
  /** Parts that are no text, such as images: `'refuse'` throws, `'name'` writes their type in their place: `[image_url]`. Default `'refuse'`. */
  readonly otherParts?: 'refuse' | 'name' | undefined;
  /** What graders need to know. */
  readonly metadata: Metadata;
}

/**
 * A recorded conversation as a trajectory, for rewards and monitors: its prompt is everything before the assistant's first turn, its
 * response the assistant's last. Without tokens and logprobs: nothing to train on.
 *
 * @throws ArgumentError for another `otherParts`.
 * @throws FormatError for messages of another shape, naming the first, and for a conversation in which the assistant says nothing.
 */
export function trajectoryFromMessages<Metadata>(
  conversation: RecordedConversation<Metadata>,
): Trajectory<Metadata> {
  requireFields('trajectoryFromMessages', { id: 'text' }, conversation);
  const { id, messages: recorded, otherParts = 'refuse', metadata } = conversation;
  if (!Object.hasOwn(partsOf, otherParts)) {
    throw new ArgumentError(
      `trajectoryFromMessages: otherParts must be 'refuse' or 'name', got ${described(otherParts)}`,
    );
  }
  if (!Array.isArray(recorded)) {
    const problem = inWords('Invalid input: expected array', recorded);
    throw new FormatError(`trajectoryFromMessages: conversation "${id}", messages: ${problem}`);
  }
  const messages = recorded.flatMap((message: unknown, place) =>
    checked(message, otherParts, `trajectoryFromMessages: conversation "${id}", messages.${place}`),
  );
  const first = messages.findIndex(({ role }) => role === 'assistant');
  if (first < 0) {
    const roles = [...new Set(messages.map(({ role }) => role))].join(' and ');
    const got = roles === '' ? 'no message' : `only messages of ${roles}`;
    throw new FormatError(
      `trajectoryFromMessages: conversation "${id}": expected a message of the assistant to score, got ${got}`,
    );
  }
  const prompt = messages.slice(0, first);
  const response = messages.findLast(({ role }) => role === 'assistant')!.content;
  const task = { id, prompt, metadata };
  return { id, task, steps: [], messages, response, status: 'completed', policyVersion: 0 };
}

/** A recorded message as messages of the chat API. `place` names it in errors. */
function checked(message: unknown, otherParts: 'refuse' | 'name', place: string): Message[] {
  if (isRecord(message)) requireContent(message, place);
  return chatMessages(message).map((one) => {
    const given = plain(one, partsOf[otherParts]);
    const { data, error } = messageSchema.safeParse(given);
    if (error === undefined) return data;
    const { path, message: said } = error.issues[0]!;
    const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)?.[key], given);
    const problem = Array.isArray(value) ? otherPart(value) : inWords(said, value);
    throw new FormatError(`${[place, ...path].join('.')}: ${problem}`);
  });
}

/** Fields that say something, and those that messages have beside them. */
const saying = ['content', 'parts', 'tool_calls', 'function_call', 'refusal', 'audio'];
const beside =
  /^(?:role|name|id|tool_call_id|reasoning\w*|thinking|annotations|finish_reason|index|created\w*|metadata)$/;

/** Refuses a message that would be read as empty because the field of its content has another name. */
function requireContent(message: Readonly<Record<string, unknown>>, place: string): void {
  const fields = Object.keys(message);
  if (fields.some((field) => saying.includes(field))) return;
  const other = fields.find((field) => !beside.test(field));
  if (other === undefined) return;
  throw new FormatError(
    `${place}: expected content, parts or tool_calls, got ${described(message)}; write what was said as content, not as ${other}`,
  );
}

/** Roles of the API, by what a conversation calls them here. */
const roles: Readonly<Record<string, string>> = { developer: 'system', function: 'tool' };

/** A message without what only the API's wire has: nulls, content in parts, refusals, roles with other names. */
function plain(message: unknown, parts: z.ZodType<string[]>): unknown {
  if (typeof message !== 'object' || message === null) return message;
  const {
    refusal,
    audio,
    content = refusal ?? (isRecord(audio) ? audio.transcript : undefined) ?? '',
    role,
    ...rest
  } = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null));
  return { ...rest, role: roles[String(role)] ?? role, content: joined(content, parts) };
}

const textPart = z.union([
  z.object({ type: z.enum(['text', 'input_text', 'output_text']).optional(), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
]);

const anyPart = z.object({ type: z.string() }).transform(({ type }) => `[${type}]`);

const texts = z.array(textPart.transform((part) => (part.type === 'refusal' ? part.refusal : part.text)));

/** Parts of a content that become text, by `otherParts`. */
const partsOf = { refuse: texts, name: z.array(z.union([texts.element, anyPart])) };

function joined(content: unknown, parts: z.ZodType<string[]>): unknown {
  const read = parts.safeParse(content);
  return read.success ? read.data.join('') : content;
}

function otherPart(parts: readonly unknown[]): string {
  const other = parts.find((part) => !textPart.safeParse(part).success);
  const type = JSON.stringify((other as { readonly type?: unknown } | null)?.type);
  return `expected text or parts of text, got a part of type ${type}; put a text in its place, such as [image], or set otherParts to 'name'`;
}
