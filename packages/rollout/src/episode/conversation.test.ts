import type { Message, Step, ToolCall } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { chat } from '../testing.ts';
import { withCalls, withLastView, withToolCalls, withView } from './conversation.ts';

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

describe('messages that a view adds to a conversation', () => {
  const before = [user('q'), assistant('a')];

  it.each<[string, readonly Message[], readonly Message[]]>([
    ['are those behind it', [...before, user('more')], [user('more')]],
    [
      'are those behind it, even if the answer was reworded',
      [user('q'), assistant('A.'), user('more')],
      [user('more')],
    ],
    ['are none if nothing was added', before, []],
    [
      'are all if an earlier one is another',
      [user('Q'), assistant('a'), user('more')],
      [user('Q'), assistant('a'), user('more')],
    ],
    ['are all if only the last one fits', [user('Q'), assistant('a')], [user('Q'), assistant('a')]],
    [
      'are all if another role said it',
      [{ role: 'system', content: 'q' }, assistant('a')],
      [{ role: 'system', content: 'q' }, assistant('a')],
    ],
    ['are all if there are fewer', [user('q')], [user('q')]],
  ])('%s', (_, view, observation) => {
    expect(withView(before, view)).toEqual({ observation, messages: view });
  });

  it('are all at the beginning', () => {
    const view = [user('q')];
    expect(withView([], view)).toEqual({ observation: view, messages: view });
  });
});

describe('the conversation once an episode ended', () => {
  const conversation = [user('q '), assistant('a')];

  it.each<[string, string | readonly Message[] | undefined, readonly Message[]]>([
    ['without a last view', undefined, conversation],
    ['with a text that goes on', 'q a Done.', [...conversation, user(' Done.')]],
    ['with a text that adds nothing', 'q a', conversation],
    ['with another text', 'Done.', conversation],
    ['with messages that go on', [...conversation, user('Done.')], [...conversation, user('Done.')]],
    [
      'with a reworded answer',
      [user('q '), assistant('A.'), user('Done.')],
      [user('q '), assistant('A.'), user('Done.')],
    ],
    ['with other messages', [user('Done.')], conversation],
  ])('%s', (_, view, messages) => {
    expect(withLastView(conversation, view)).toEqual(messages);
  });

  it('is empty if nothing was said, whatever is shown', () => {
    expect([withLastView([], 'Done.'), withLastView([], [user('Done.')])]).toEqual([[], []]);
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

  it('are those of each step, in their order', () => {
    const given = [
      user('q'),
      assistant(written('one')),
      user('1'),
      assistant('no call'),
      user('2'),
      assistant(written('two')),
    ];
    const { messages, steps } = withToolCalls(given, ['one', 'none', 'two'].map(step), chat);
    expect(steps.map(({ text, toolCalls }) => [text, namesOf(toolCalls)])).toEqual([
      ...[
        ['one', ['one']],
        ['none', undefined],
        ['two', ['two']],
      ],
    ]);
    expect(steps[1]).not.toHaveProperty('toolCalls');
    expect(messages.map(({ content }) => content)).toEqual(['q', '', '1', 'no call', '2', '']);
    expect(given[1]!.content).toBe(written('one'));
  });

  it('are none of a conversation without steps, or without a chat format', () => {
    const given = [user('q'), assistant(written('add'))];
    expect(withToolCalls(given, [], chat)).toEqual({ messages: given, steps: [] });
    expect(withToolCalls(given, [step('add')], undefined)).toEqual({ messages: given, steps: [step('add')] });
    expect(withCalls(given[1]!, { render: () => [] })).toBe(given[1]);
  });

  it('are left out of a conversation with fewer answers than steps', () => {
    const given = [user('q'), assistant(written('add'))];
    const steps = [step('one'), step('two')];
    expect(withToolCalls(given, steps, chat)).toEqual({ messages: given, steps });
  });
});
