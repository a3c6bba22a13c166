import { type Message, requireArguments, requireChoice, requireFields, type TokenId } from '@rlp/core';

/** A message of a conversation as tokens, cut where its header ends. */
export interface MessageTokens {
  readonly role: Message['role'];
  /** What introduces it, such as its role. It ends where a sampler would begin to write. */
  readonly header: readonly TokenId[];
  /** What it says, with what ends it. */
  readonly body: readonly TokenId[];
  /** `'context'` is not trained, whatever its role. Default `'train'`. */
  readonly use?: 'train' | 'context' | undefined;
}

const trainedMessages = [
  'assistant',
  'last-assistant-message',
  'last-assistant-turn',
  'user-and-system',
  'messages',
  'all-but-user',
  'everything',
] as const;

/** Which tokens of a conversation are trained. See {@link messageMasks}. */
export type TrainedMessages = (typeof trainedMessages)[number];

/** A conversation in one row. */
export interface MaskedMessages {
  readonly tokens: readonly TokenId[];
  /** 1 where a token is trained. Shape `[T]`. */
  readonly mask: Uint8Array;
  /** Where each message begins, and where the next one does. */
  readonly spans: readonly (readonly [start: number, end: number])[];
}

/**
 * Which tokens of a conversation carry loss, by message.
 *
 * | `trained` | bodies of | headers too | as in |
 * |---|---|---|---|
 * | `assistant` (default) | every assistant message | no | slime, tinker `all_assistant_messages` |
 * | `last-assistant-message` | the last message, if it is the assistant's | no | tinker |
 * | `last-assistant-turn` | assistant messages after the last user message | no | tinker |
 * | `user-and-system` | user and system messages | no | tinker `all_user_and_system_messages` |
 * | `messages` | every message | no | tinker `all_messages`, and with `use` `customized` |
 * | `all-but-user` | every message that is not the user's | yes | rollouts |
 * | `everything` | every message | yes | tinker `all_tokens` |
 *
 * Messages with `use: 'context'` are never trained. Where a model writes a fixed beginning by itself (Qwen 3.5's `<think>`), count
 * it to the header. `demonstrationSequences` makes the rows of `assistant` from a chat template alone.
 */
export function messageMasks(
  messages: readonly MessageTokens[],
  trained: TrainedMessages = 'assistant',
): MaskedMessages {
  requireArguments('messageMasks', { messages: 'objects' }, messages);
  requireChoice('messageMasks', 'trained', trained, trainedMessages);
  for (const [index, message] of messages.entries()) {
    const owner = `messageMasks: messages[${index}]`;
    requireFields(owner, { role: 'text', header: 'list', body: 'list' }, message);
    requireChoice(owner, 'use', message.use ?? 'train', ['train', 'context']);
  }
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const tokens: TokenId[] = [];
  const mask = new Uint8Array(
    messages.reduce((sum, { header, body }) => sum + header.length + body.length, 0),
  );
  const spans: [number, number][] = [];
  for (const [index, message] of messages.entries()) {
    const { header, body, use } = message;
    const counts = use !== 'context' && isTrained(message.role, trained, place(index, messages, lastUser));
    const withHeader = counts && (trained === 'everything' || trained === 'all-but-user');
    const start = tokens.length;
    for (const token of header) tokens.push(token);
    for (const token of body) tokens.push(token);
    if (counts) mask.fill(1, withHeader ? start : start + header.length, tokens.length);
    spans.push([start, tokens.length]);
  }
  return { tokens, mask, spans };
}

/** Tokens of a row from the first trained one to the end, as slime counts a response. It is 0 if none is trained. */
export function responseLength(mask: ArrayLike<number>): number {
  requireArguments('responseLength', { mask: 'numbers' }, mask);
  for (let t = 0; t < mask.length; t++) if (mask[t] !== 0) return mask.length - t;
  return 0;
}

/** Where in the conversation a message stands. */
type Place = 'last' | 'last-turn' | 'earlier';

function place(index: number, messages: readonly MessageTokens[], lastUser: number): Place {
  if (index === messages.length - 1) return 'last';
  return index > lastUser ? 'last-turn' : 'earlier';
}

function isTrained(role: Message['role'], trained: TrainedMessages, at: Place): boolean {
  switch (trained) {
    case 'assistant':
      return role === 'assistant';
    case 'last-assistant-message':
      return role === 'assistant' && at === 'last';
    case 'last-assistant-turn':
      return role === 'assistant' && at !== 'earlier';
    case 'user-and-system':
      return role === 'user' || role === 'system';
    case 'all-but-user':
      return role !== 'user';
    case 'messages':
    case 'everything':
      return true;
  }
}
