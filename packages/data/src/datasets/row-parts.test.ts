import { describe, expect, it } from 'vitest';
import { DatasetEntry } from './dataset-entry.ts';
import { asMessages, messagesOf, plainMessage, promptOf, textOrMessages, toolsOf } from './row-parts.ts';

const entry = (row: object, fields = {}) =>
  new DatasetEntry(row, { number: 1, at: 1, origin: { name: 'rows', unit: 'row', fields } });

describe('plainMessage', () => {
  it.each([
    [
      'a message as it is',
      { role: 'user', content: 'a', name: 'n' },
      { role: 'user', content: 'a', name: 'n' },
    ],
    ['fields of ShareGPT', { from: 'human', value: 'a' }, { role: 'user', content: 'a' }],
    [
      'names of roles that other files have',
      { from: 'gpt', value: 'a' },
      { role: 'assistant', content: 'a' },
    ],
    ['a bard', { role: 'bard', content: 'a' }, { role: 'assistant', content: 'a' }],
    ['answers of functions', { role: 'function_response', content: 'a' }, { role: 'tool', content: 'a' }],
    [
      'the fields of messages before those of ShareGPT',
      { role: 'user', from: 'gpt', content: 'a', value: 'b' },
      { role: 'user', content: 'a' },
    ],
    [
      'no field of null',
      { role: 'user', content: 'a', name: null, weight: 0 },
      { role: 'user', content: 'a', weight: 0 },
    ],
    ['a role that is no text', { role: 7, content: 'a' }, { role: 7, content: 'a' }],
    ['no content without calls', { role: 'user', content: null }, { role: 'user', content: null }],
    [
      'calls that are no list',
      { role: 'assistant', content: null, tool_calls: 'x' },
      { role: 'assistant', content: null, tool_calls: 'x' },
    ],
  ])('reads %s', (_, given, plain) => {
    expect(plainMessage(given)).toStrictEqual(plain);
  });

  it.each([null, undefined, 'text', 7])('leaves %o, which is no message', (given) => {
    expect(plainMessage(given)).toBe(given);
  });

  it('drops fields of null beside calls, and keeps the others', () => {
    const given = { from: 'gpt', content: null, name: null, weight: 1, tool_calls: [] };
    expect(plainMessage(given)).toStrictEqual({ role: 'assistant', content: '', weight: 1, tool_calls: [] });
  });

  it.each<[string, unknown, { readonly id: string; readonly name: string; readonly given: string }]>([
    [
      'as core has it',
      { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      { id: 'c', name: 'f', given: '{"a":1}' },
    ],
    [
      'without an id',
      { function: { name: 'f', arguments: { a: 1 } } },
      { id: 'call_0', name: 'f', given: '{"a":1}' },
    ],
    [
      'that is the function itself',
      { name: 'f', arguments: { a: 1 } },
      { id: 'call_0', name: 'f', given: '{"a":1}' },
    ],
    ['without arguments', { name: 'f' }, { id: 'call_0', name: 'f', given: '{}' }],
    ['with arguments of null', { id: 'c', name: 'f', arguments: null }, { id: 'c', name: 'f', given: '{}' }],
  ])('reads a call %s', (_, call, { id, name, given }) => {
    expect(plainMessage({ role: 'assistant', content: 'x', tool_calls: [call] })).toStrictEqual({
      ...{ role: 'assistant', content: 'x' },
      tool_calls: [{ id, type: 'function', function: { name, arguments: given } }],
    });
  });

  it.each([null, 'f', 7, { function: 'f' }, { function: null }])('leaves %j, which is no call', (call) => {
    expect(plainMessage({ role: 'assistant', tool_calls: [call] })).toStrictEqual({
      ...{ role: 'assistant', content: '', tool_calls: [call] },
    });
  });

  it('numbers the calls of a message', () => {
    expect(plainMessage({ role: 'assistant', tool_calls: [{ name: 'f' }, { name: 'g' }] })).toMatchObject({
      tool_calls: [{ id: 'call_0' }, { id: 'call_1' }],
    });
  });
});

describe('values of a column', () => {
  it('are text, a number as text, or messages', () => {
    const row = entry({ a: 'text', b: 7, c: [{ from: 'human', value: 'x' }] });
    expect(['a', 'b', 'c'].map((column) => textOrMessages(row, column))).toStrictEqual([
      'text',
      '7',
      [{ role: 'user', content: 'x' }],
    ]);
    expect(asMessages('x', 'system')).toStrictEqual([{ role: 'system', content: 'x' }]);
    expect(asMessages([{ role: 'user', content: 'x' }], 'system')).toStrictEqual([
      { role: 'user', content: 'x' },
    ]);
  });

  it.each<[unknown, string]>([
    ['text', 'messages { role, content } in the column m: '],
    [[], 'messages { role, content } in the column m: '],
    [[{ role: 'user', content: 'a' }, 7], 'messages { role, content } in the column m.1: '],
    [[{ role: 'user' }], 'messages { role, content } in the column m.0.content: '],
  ])('are named with their place if they are not messages: %j', (value, problem) => {
    expect(() => messagesOf(value, entry({ m: value }), 'm')).toThrow(`rows, row 1: expected ${problem}`);
    expect(() => messagesOf(value, entry({ m: value }), 'm')).toThrow(
      'the row has m; correct or remove the row, or leave it out with `filter`',
    );
  });
});

describe('promptOf', () => {
  it.each<[object, object, unknown]>([
    [{ q: 'a' }, { prompt: 'q' }, 'a'],
    [{ q: 'a' }, {}, undefined],
    [{ instruction: 'a', input: 'b' }, { prompt: 'instruction' }, 'a\n\nb'],
    [{ instruction: 'a', input: '' }, { prompt: 'instruction' }, 'a'],
    [{ instruction: 'a', input: 7 }, { prompt: 'instruction' }, 'a'],
    [{ question: 'a', input: 'b' }, { prompt: 'question' }, 'a'],
    [
      { instruction: [{ role: 'user', content: 'a' }], input: 'b' },
      { prompt: 'instruction' },
      [{ role: 'user', content: 'a' }],
    ],
    [{ m: [{ role: 'user', content: 'a' }] }, { messages: 'm' }, [{ role: 'user', content: 'a' }]],
    [
      {
        m: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
      { messages: 'm' },
      [{ role: 'user', content: 'a' }],
    ],
    [
      {
        m: [
          { role: 'assistant', content: 'b' },
          { role: 'user', content: 'a' },
        ],
      },
      { messages: 'm' },
      [
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'a' },
      ],
    ],
    [{ q: 'a', m: [] }, { prompt: 'q', messages: 'm' }, 'a'],
  ])('of %j with %j', (row, columns, prompt) => {
    expect(promptOf(entry(row), columns)).toStrictEqual(prompt);
  });
});

describe('toolsOf', () => {
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
  it.each<[string, unknown, unknown]>([
    ['a list', [tool], [tool]],
    ['JSON', ` [${JSON.stringify(tool)}]`, [tool]],
    ['an empty list', [], undefined],
    ['an empty list as JSON', ' [ ]', undefined],
    ['empty text', '', undefined],
    ['null', null, undefined],
    ['text that is no list', 'hammer', undefined],
    ['a list of words', '["hammer"]', undefined],
    ['an object', {}, undefined],
  ])('reads %s', (_, tools, read) => {
    expect(toolsOf(entry({ tools }), { tools: 'tools' })).toStrictEqual(read);
  });

  it('are none without a column, and an error if their column was named', () => {
    expect(toolsOf(entry({ tools: [tool] }), {})).toBeUndefined();
    for (const tools of ['hammer', {}]) {
      expect(() => toolsOf(entry({ tools }, { tools: 'tools' }), { tools: 'tools' })).toThrow(
        /^rows, row 1: expected tools \{ type: "function", function: \{ name, parameters \} \} in the column tools: .*; the row has tools; correct the row, or name another column, as in fields: \{ tools: 'functions' \}$/,
      );
    }
  });
});
