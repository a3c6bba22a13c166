import * as z from 'zod';
import { FormatError } from './errors.ts';
import { messageSchema } from './message.ts';
import type { Trajectory } from './trajectory.ts';

/** A conversation that some other program recorded. */
export interface RecordedConversation<Metadata = unknown> {
  /** Names the trajectory and its task. */
  readonly id: string;
  /**
   * In the shape of the OpenAI chat API, and checked, as it comes from outside. What is `null` counts as absent, absent content as
   * empty. Parts that are text are joined, and a developer's messages are the system's.
   */
  readonly messages: readonly unknown[];
  /** What graders need to know. */
  readonly metadata: Metadata;
}

/**
 * A recorded conversation as a trajectory, for rewards and monitors: its prompt is everything before the assistant's first turn, its
 * response the assistant's last. Without tokens and logprobs: nothing to train on.
 *
 * @throws {@link FormatError} for messages of another shape, naming the first.
 */
export function trajectoryFromMessages<Metadata>({
  id,
  messages: recorded,
  metadata,
}: RecordedConversation<Metadata>): Trajectory<Metadata> {
  const parsed = z.array(messageSchema).safeParse(Array.isArray(recorded) ? recorded.map(plain) : recorded);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new FormatError(
      `trajectoryFromMessages: conversation "${id}", ${['messages', ...path].join('.')}: ${message}`,
    );
  }
  const messages = parsed.data;
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const prompt = first < 0 ? messages : messages.slice(0, first);
  const response = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
  const task = { id, prompt, metadata };
  return { id, task, steps: [], messages, response, status: 'completed', policyVersion: 0 };
}

/** A message without what only the API's wire has: nulls, content in parts, the role of a developer. */
function plain(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message;
  const {
    content = '',
    role,
    ...rest
  } = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null));
  return { ...rest, role: role === 'developer' ? 'system' : role, content: joined(content) };
}

function joined(content: unknown): unknown {
  const parts = z.array(z.object({ type: z.literal('text'), text: z.string() })).safeParse(content);
  return parts.success ? parts.data.map(({ text }) => text).join('') : content;
}
