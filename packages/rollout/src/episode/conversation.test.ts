import type { Message, Step, ToolCall } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { chat } from '../testing.ts';
import { withCalls, withToolCalls, withView } from './conversation.ts';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string, calls?: readonly ToolCall[]): Message => ({
  role: 'assistant',
  content,
  ...(calls && { tool_calls: calls }),
});
const step = (text: string): Step => ({
  ...{ promptTokens: [], tokens: [], behaviorLogprobs: [], text, stopReason: 'stop' },
});
const written = (name: string) => `<tool_call>{"name": "${name}", "arguments": {}}</tool_call>`;
const namesOf = (calls: readonly ToolCall[] | undefined) => calls?.map((call) => call.function.name);

describe('text that a view adds to a conversation', () => {
  const before = [user('2+2? '), assistant('4')];

  it('is what the user said since', () => {
    const { observation, messages } = withView(before, '2+2? 4 And 3+3?');
    expect([observation, messages]).toEqual([' And 3+3?', [...before, user(' And 3+3?')]]);
  });

  it('is no message if it is empty', () => {
    expect(withView(before, '2+2? 4')).toEqual({ observation: '', messages: before });
  });

  it('is all of it if the history was rewritten, or if there was none', () => {
    expect(withView(before, '3+3?').observation).toBe('3+3?');
    expect(withView([], 'Hello').messages).toEqual([user('Hello')]);
  });
});

describe('tool calls', () => {
  it('go to the last answers, because a prompt may have answers of its own', () => {
    const given = [user('q'), assistant(written('example')), user('q'), assistant(written('add')), user('3')];
    const { messages, steps } = withToolCalls(given, [step('add')], chat);
    expect(messages.map((message) => namesOf(message.tool_calls))).toEqual([
      ...[undefined, undefined, undefined],
      ['add'],
      undefined,
    ]);
    expect(messages[3]!.content).toBe('');
    expect(steps.map(({ toolCalls }) => namesOf(toolCalls))).toEqual([['add']]);
  });

  it('stay with an environment that knows them, whatever the text says', () => {
    const calls: readonly ToolCall[] = [
      { id: '7', type: 'function', function: { name: 'known', arguments: '{}' } },
    ];
    const message = assistant(written('add'), calls);
    expect(withCalls(message, chat)).toBe(message);
    expect(withToolCalls([message], [step('add')], chat).steps[0]!.toolCalls).toEqual(calls);
    const none = assistant(written('add'), []);
    expect(withCalls(none, chat)).toBe(none);
    expect(withToolCalls([none], [step('add')], chat).steps).toEqual([step('add')]);
  });

  it('are left out of a conversation with fewer answers than steps', () => {
    const given = [user('q'), assistant(written('add'))];
    const steps = [step('one'), step('two')];
    expect(withToolCalls(given, steps, chat)).toEqual({ messages: given, steps });
  });
});
