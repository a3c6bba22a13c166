import { expect, it } from 'vitest';
import { type Message, messageSchema, promptMessages, promptText } from './message.ts';

const conversation: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Why?' },
];

it('reads a prompt as messages and as text, whichever it is', () => {
  expect(promptMessages('Why?')).toEqual([{ role: 'user', content: 'Why?' }]);
  expect(promptMessages(conversation)).toBe(conversation);
  expect(promptText('Why?')).toBe('Why?');
  expect(promptText(conversation)).toBe('Be brief.\nWhy?');
  expect(promptText([])).toBe('');
});

it('reads the content that a message with calls leaves out as empty', () => {
  const called = { id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } };
  expect(messageSchema.parse({ role: 'assistant', content: null, tool_calls: [called] }).content).toBe('');
});

it('leaves out what the API adds, and refuses its own fields in another spelling', () => {
  const message = { role: 'assistant', content: 'Hi' };
  expect(messageSchema.parse({ ...message, refusal: null })).toEqual(message);
  expect(() => messageSchema.parse({ ...message, toolCallId: 'a' })).toThrow('write it as tool_call_id');
});
