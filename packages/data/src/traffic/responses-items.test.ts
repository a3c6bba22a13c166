import { describe, expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';
import { recordedExchanges } from './record.ts';
import { itemMessages, type ResponsesItem } from './responses-items.ts';

const call = (id: string, name: string, given: string) => ({
  ...{ id, type: 'function', function: { name, arguments: given } },
});
const turn = (id: string, name: string, given: string) => ({
  ...{ role: 'assistant', content: '', tool_calls: [call(id, name, given)] },
});
const tool = (id: string, content: unknown) => ({ role: 'tool', content, tool_call_id: id });

it.each<[ResponsesItem[], object[]]>([
  [
    [
      { type: 'custom_tool_call', call_id: 'c', name: 'code', input: 'print(1)' },
      { type: 'custom_tool_call_output', call_id: 'c', output: '1' },
    ],
    [turn('c', 'code', '{"input":"print(1)"}'), tool('c', '1')],
  ],
  [
    [{ type: 'mcp_call', id: 'm', name: 'find', arguments: '{}', output: 'here' }],
    [turn('m', 'find', '{}'), tool('m', 'here')],
  ],
  [
    [{ type: 'mcp_call', id: 'm', name: 'find', arguments: '{}', output: null, error: 'down' }],
    [turn('m', 'find', '{}'), tool('m', 'down')],
  ],
  [
    [{ type: 'code_interpreter_call', id: 'i', code: '1', outputs: [{ type: 'logs', logs: '1' }] }],
    [turn('i', 'code_interpreter', '{"code":"1"}'), tool('i', '[{"type":"logs","logs":"1"}]')],
  ],
  [
    [{ type: 'file_search_call', id: 'f', queries: ['q'], results: null }],
    [turn('f', 'file_search', '{"queries":["q"]}')],
  ],
  [
    [{ type: 'web_search_call', id: 'w', action: { type: 'search', query: 'q' } }],
    [turn('w', 'web_search', '{"type":"search","query":"q"}')],
  ],
  [
    [
      { type: 'local_shell_call', call_id: 's', action: { command: ['ls'] } },
      { type: 'local_shell_call_output', id: 's', output: 'a' },
    ],
    [turn('s', 'local_shell', '{"command":["ls"]}'), tool('s', 'a')],
  ],
  [
    [
      { type: 'apply_patch_call', call_id: 'p', operation: { type: 'delete_file' } },
      { type: 'apply_patch_call_output', call_id: 'p' },
    ],
    [turn('p', 'apply_patch', '{"type":"delete_file"}'), tool('p', '')],
  ],
])('reads the items %j as calls with what they gave', (items, messages) => {
  expect(itemMessages(items)).toEqual(messages);
});

it.each([
  { type: 'image_generation_call', id: 'g', result: 'x' },
  { type: 'item_reference', id: 'x' },
  { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: 'x' } },
])('has otherParts decide about $type', (item) => {
  const request = { input: [{ role: 'user', content: 'q' }, item] };
  const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }];
  const log = JSON.stringify({ request, response: { output } });
  expect(() => trajectoriesFromTraffic(log)).toThrow("set otherParts to 'name'");
  const [named] = trajectoriesFromTraffic(log, { otherParts: 'name' });
  const [, content] = named!.messages.map((message) => message.content);
  expect(content).toBe(item.type === 'computer_call_output' ? '[computer_screenshot]' : `[${item.type}]`);
  expect(named!.response).toBe('a');
});

const asked = { role: 'user', content: 'q' };
const said = { role: 'assistant', content: 'a' };
const silent = { role: 'assistant', content: '' };
/** The one exchange of a record. */
const exchangeOf = (record: unknown) => {
  const exchanges = recordedExchanges(record);
  expect(exchanges).toHaveLength(1);
  return exchanges![0]!;
};
const messagesOf = (record: unknown) => exchangeOf(record).messages;

describe('a record of the Responses API', () => {
  const record = (input: unknown, output: unknown = [], rest = {}) => ({
    request: { input, ...rest },
    response: { output },
  });
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
  const called = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

  it('has text, instructions, and items of messages without a type or a role', () => {
    expect(messagesOf(record('q', [{ content: 'a' }], { instructions: 'Be short.' }))).toStrictEqual([
      ...[{ role: 'system', content: 'Be short.' }, asked, said],
    ]);
    expect(
      messagesOf(record([asked], [{ type: 'message', content: null }], { instructions: null })),
    ).toStrictEqual([...[asked, { role: 'assistant', content: '' }]]);
    expect(messagesOf(record('q', [{ type: 'reasoning', summary: [] }]))).toStrictEqual([asked, silent]);
  });

  it('puts calls to the turn before them, or into one of their own', () => {
    expect(messagesOf(record('q', [call('1'), call('2')]))).toStrictEqual([
      ...[asked, { role: 'assistant', content: '', tool_calls: [called('1'), called('2')] }],
    ]);
    expect(messagesOf(record('q', [{ role: 'assistant', content: 'a' }, call('1')]))).toStrictEqual([
      ...[asked, { ...said, tool_calls: [called('1')] }],
    ]);
  });

  it('has what a tool gave as text, also if it is no text', () => {
    const output = (given: unknown) =>
      messagesOf(
        record([asked, call('1'), { type: 'function_call_output', call_id: '1', output: given }]),
      )[2];
    expect(output('sun')).toStrictEqual({ role: 'tool', content: 'sun', tool_call_id: '1' });
    expect(output({ sky: 'blue' })).toStrictEqual({
      role: 'tool',
      content: '{"sky":"blue"}',
      tool_call_id: '1',
    });
    expect(output([{ type: 'input_text', text: 'sun' }])).toMatchObject({
      content: [{ type: 'input_text', text: 'sun' }],
    });
    expect(output(undefined)).toMatchObject({ content: '' });
  });

  it('has the id, the model and the tools that there are', () => {
    expect(
      exchangeOf({
        request: { input: 'q', model: 'm', tools: [1] },
        response: { id: 'r', output: [] },
        x: 1,
      }),
    ).toStrictEqual({
      ...{
        format: 'openai-responses',
        id: 'r',
        model: 'm',
        tools: [1],
        messages: [asked, silent],
        columns: { x: 1 },
      },
    });
    expect(exchangeOf(record('q'))).toStrictEqual({
      format: 'openai-responses',
      tools: undefined,
      messages: [asked, silent],
    });
  });
});
