import { describe, expect, it } from 'vitest';
import { trajectorySchema } from './trajectory.ts';
import { type RecordedConversation, trajectoryFromMessages } from './trajectory-from-messages.ts';

const messages: RecordedConversation['messages'] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Where is it?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: '1', type: 'function', function: { name: 'find', arguments: '{}' } }],
  },
  { role: 'tool', content: 'here', tool_call_id: '1' },
  { role: 'assistant', content: 'Here.' },
  { role: 'user', content: 'Thanks' },
];

describe('trajectoryFromMessages', () => {
  it('makes a trajectory of what an API logged', () => {
    const trajectory = trajectoryFromMessages({ id: 'a', messages, metadata: { stars: 5 } });
    expect(trajectory).toMatchObject({ id: 'a', response: 'Here.', status: 'completed', steps: [] });
    expect(trajectory.task).toEqual({ id: 'a', prompt: messages.slice(0, 2), metadata: { stars: 5 } });
    expect(trajectory.messages[2]).toEqual({ ...messages[2], content: '' });
    expect(trajectorySchema.parse(JSON.parse(JSON.stringify(trajectory)))).toEqual(trajectory);
  });

  it('has nothing to say for an assistant that said nothing', () => {
    const { task, response } = trajectoryFromMessages({
      id: 'b',
      messages: messages.slice(0, 2),
      metadata: null,
    });
    expect([task.prompt, response]).toEqual([messages.slice(0, 2), '']);
  });

  it('names what is no message', () => {
    const broken = [...messages, { role: 'bot', content: 'x' }] as RecordedConversation['messages'];
    expect(() => trajectoryFromMessages({ id: 'c', messages: broken, metadata: null })).toThrow(
      /conversation "c", messages\.6\.role: /,
    );
  });
});
