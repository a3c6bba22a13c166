import type { Message } from '@rlp/core';
import { expect, it } from 'vitest';
import { userSide } from './user-side.ts';

const seen = (...messages: Message[]) =>
  userSide(messages, { greeting: 'Hi!', show: (response) => response }).map(
    ({ role, content }) => `${role}: ${content}`,
  );

it('joins what one side says in a row, and says so if it says nothing', () => {
  const calls = [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }] as const;
  expect(
    seen(
      { role: 'system', content: 'Help.' },
      { role: 'user', content: 'One.' },
      { role: 'user', content: 'Two.' },
      { role: 'assistant', content: '', tool_calls: calls },
      { role: 'tool', content: '3', tool_call_id: '1' },
      { role: 'assistant', content: ' ' },
    ),
  ).toEqual(['user: Hi!', 'assistant: One.\n\nTwo.', 'user: (says nothing)']);
});

it('greets with the first words of the policy where it opens', () => {
  expect(seen({ role: 'assistant', content: 'Welcome.' }, { role: 'user', content: 'Hm.' })).toEqual([
    'user: Welcome.',
    'assistant: Hm.',
  ]);
});
