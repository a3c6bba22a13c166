import { describe, expect, it } from 'vitest';
import { type MessageTokens, messageMasks, responseLength, type TrainedMessages } from './message-masks.ts';

/** Header and body of two tokens each; the second of them says which message it is. */
const message = (role: MessageTokens['role'], id: number, use?: MessageTokens['use']): MessageTokens => ({
  role,
  header: [0, id],
  body: [1, id],
  use,
});

const conversation = [
  message('system', 10),
  message('user', 11),
  message('assistant', 12),
  message('user', 13),
  message('assistant', 14),
  message('tool', 15),
  message('assistant', 16),
];

describe('messageMasks', () => {
  it.each<[TrainedMessages | undefined, number[]]>([
    [undefined, [12, 14, 16]],
    ['assistant', [12, 14, 16]],
    ['last-assistant-message', [16]],
    ['last-assistant-turn', [14, 16]],
    ['user-and-system', [10, 11, 13]],
    ['messages', [10, 11, 12, 13, 14, 15, 16]],
  ])('%s: trains bodies', (trained, expected) => {
    const { tokens, mask } = messageMasks(conversation, trained);
    const ids = tokens.filter((_, t) => mask[t] === 1 && tokens[t]! >= 10);
    expect(ids).toEqual(expected);
    expect(mask.reduce((sum, counts) => sum + counts, 0)).toBe(2 * expected.length);
  });

  it.each<[TrainedMessages, number]>([
    ['everything', 28],
    ['all-but-user', 20],
  ])('%s: trains headers too', (trained, count) => {
    expect(messageMasks(conversation, trained).mask.reduce((sum, counts) => sum + counts, 0)).toBe(count);
  });

  it('never trains a message that is only context', () => {
    const { mask } = messageMasks(
      [message('assistant', 10, 'context'), message('assistant', 11)],
      'everything',
    );
    expect([...mask]).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
  });

  it('says where each message stands', () => {
    expect(messageMasks(conversation.slice(0, 2))).toEqual({
      tokens: [0, 10, 1, 10, 0, 11, 1, 11],
      mask: new Uint8Array(8),
      spans: [
        [0, 4],
        [4, 8],
      ],
    });
    expect(messageMasks([])).toEqual({ tokens: [], mask: new Uint8Array(0), spans: [] });
  });

  it('takes a message longer than a call has room for arguments', () => {
    const body = new Array<number>(200_000).fill(1);
    const { tokens, mask } = messageMasks([{ role: 'assistant', header: [0], body }]);
    expect([tokens.length, mask.indexOf(1), mask.lastIndexOf(1)]).toEqual([200_001, 1, 200_000]);
  });

  it('trains no last message that is not the assistant’s', () => {
    expect([...messageMasks(conversation.slice(0, 4), 'last-assistant-message').mask]).not.toContain(1);
  });
});

describe('responseLength', () => {
  it('counts from the first trained token to the end', () => {
    expect([[0, 0, 1, 1, 0], [0], [1, 0, 1], []].map(responseLength)).toEqual([3, 0, 3, 0]);
  });
});
