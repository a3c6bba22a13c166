import { describe, expect, it } from 'vitest';
import { trajectoryFromMessages } from '../trajectory-from-messages.ts';
import { chatMessages } from './chat-messages.ts';

const call = (id: string, name = 'weather', given = '{"city":"Rome"}') => ({
  ...{ id, type: 'function', function: { name, arguments: given } },
});
const text = (said: string) => ({ type: 'text', text: said });
const input = { city: 'Rome' };
const expected = [
  { role: 'assistant', content: 'Let me see.', tool_calls: [call('1')] },
  { role: 'tool', tool_call_id: '1', content: 'sun' },
  { role: 'assistant', content: 'It is sunny.' },
];

describe('calls and what tools gave, as parts of messages', () => {
  it.each<[string, object[]]>([
    [
      "Anthropic's API",
      [
        {
          role: 'assistant',
          content: [text('Let me see.'), { type: 'tool_use', id: '1', name: 'weather', input }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'sun' }] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.' }, text('It is sunny.')] },
      ],
    ],
    [
      'the AI SDK',
      [
        {
          role: 'assistant',
          content: [text('Let me see.'), { type: 'tool-call', toolCallId: '1', toolName: 'weather', input }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: '1', output: { type: 'text', value: 'sun' } }],
        },
        { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }, text('It is sunny.')] },
      ],
    ],
    [
      'the AI SDK, whose provider runs the tool',
      [
        {
          role: 'assistant',
          content: [
            text('Let me see.'),
            { type: 'tool-call', toolCallId: '1', toolName: 'weather', input, providerExecuted: true },
            { type: 'tool-result', toolCallId: '1', output: { type: 'text', value: 'sun' } },
            text('It is sunny.'),
          ],
        },
      ],
    ],
    [
      'a UIMessage',
      [
        {
          ...{ id: 'm1', role: 'assistant' },
          parts: [
            { type: 'step-start' },
            { type: 'reasoning', text: 'Hm.' },
            text('Let me see.'),
            { type: 'tool-weather', toolCallId: '1', state: 'output-available', input, output: 'sun' },
            { type: 'step-start' },
            text('It is sunny.'),
          ],
        },
      ],
    ],
    [
      'OpenTelemetry',
      [
        {
          role: 'assistant',
          parts: [
            { type: 'text', content: 'Let me see.' },
            { type: 'tool_call', id: '1', name: 'weather', arguments: input },
          ],
        },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: '1', response: 'sun' }] },
        { role: 'assistant', parts: [{ type: 'text', content: 'It is sunny.' }] },
      ],
    ],
  ])('are read as %s has them', (_, messages) => {
    const asked = { role: 'user', content: 'Weather?' };
    const read = trajectoryFromMessages({ id: 'a', messages: [asked, ...messages], metadata: null });
    expect(read.messages.slice(1)).toEqual(expected);
    expect(read.response).toBe('It is sunny.');
  });

  it('keeps text of the user beside what a tool gave, in order', () => {
    const gave = { type: 'tool_result', tool_use_id: '1', content: [text('sun')] };
    expect(chatMessages({ role: 'user', content: [text('a'), gave, text('b')] })).toEqual([
      { role: 'user', content: 'a' },
      { role: 'tool', tool_call_id: '1', content: [text('sun')] },
      { role: 'user', content: 'b' },
    ]);
  });

  it('makes one turn of calls at once, and reads each state of a call in a user interface', () => {
    const shown = (toolCallId: string, state: string, rest: object = {}) => ({
      ...{ type: 'dynamic-tool', toolName: 'weather', toolCallId, state, input, ...rest },
    });
    const parts = [
      shown('1', 'output-available', { output: { sky: 'blue' } }),
      shown('2', 'output-error', { errorText: 'down' }),
      shown('3', 'output-denied'),
      shown('4', 'input-available'),
    ];
    expect(chatMessages({ role: 'assistant', parts })).toEqual([
      { role: 'assistant', content: '', tool_calls: ['1', '2', '3', '4'].map((id) => call(id)) },
      { role: 'tool', tool_call_id: '1', content: '{"sky":"blue"}' },
      { role: 'tool', tool_call_id: '2', content: 'down' },
      { role: 'tool', tool_call_id: '3', content: 'Tool execution denied.' },
    ]);
    const invocation = { state: 'result', toolCallId: '1', toolName: 'weather', args: input, result: 'sun' };
    const old = [
      text('Let me see.'),
      { type: 'tool-invocation', toolInvocation: invocation },
      text('It is sunny.'),
    ];
    expect(chatMessages({ role: 'assistant', content: 'It is sunny.', parts: old })).toEqual(expected);
  });

  it("leaves a tool's own value whole, and takes the type off an output that says it", () => {
    const gave = (result: object) =>
      chatMessages({ role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', ...result }] });
    const content = (result: object) => (gave(result)[0] as { content: unknown }).content;
    const own = { type: 'temperature', value: 5, unit: 'C' };
    expect(content({ result: own })).toBe(JSON.stringify(own));
    expect(content({ result: { type: 'json', value: 5 } })).toBe('{"type":"json","value":5}');
    expect(content({ output: own })).toBe(JSON.stringify(own));
    expect(content({ output: { type: 'json', value: own } })).toBe(JSON.stringify(own));
    expect(content({ output: { type: 'error-text', value: 'down' } })).toBe('down');
    expect(content({ output: { type: 'execution-denied', reason: 'no' } })).toBe('no');
    expect(content({ output: { type: 'content', value: [text('a')] } })).toEqual([text('a')]);
    expect(content({})).toBe('');
  });

  it('writes a call once that is a part and beside the parts, and takes input of custom tools as an argument', () => {
    const both = {
      role: 'assistant',
      tool_calls: [call('1')],
      content: [{ type: 'tool_use', id: '1', name: 'weather', input }],
    };
    expect(chatMessages(both)).toEqual([{ role: 'assistant', content: '', tool_calls: [call('1')] }]);
    const custom = { id: '1', type: 'custom', custom: { name: 'code', input: 'print(1)' } };
    expect(chatMessages({ role: 'assistant', content: null, tool_calls: [custom] })).toMatchObject([
      { tool_calls: [call('1', 'code', '{"input":"print(1)"}')] },
    ]);
  });

  it('reads tools that run on the servers of Anthropic', () => {
    const content = [
      { type: 'server_tool_use', id: '1', name: 'weather', input },
      { type: 'web_search_tool_result', tool_use_id: '1', content: [{ url: 'u' }] },
      text('Sun.'),
    ];
    expect(chatMessages({ role: 'assistant', content })).toEqual([
      { role: 'assistant', content: '', tool_calls: [call('1')] },
      { role: 'tool', tool_call_id: '1', content: '[{"url":"u"}]' },
      { role: 'assistant', content: 'Sun.' },
    ]);
  });
});

it('keeps parts that are neither text nor calls, and is the same when it is done again', () => {
  const message = { role: 'user', content: [text('See '), { type: 'image', image: 'x' }] };
  const [once] = chatMessages(message);
  expect(once).toEqual(message);
  expect(chatMessages(once)).toEqual([message]);
  for (const part of [
    null,
    7,
    {},
    { type: 7 },
    { type: 'text' },
    { type: 'tool_use' },
    { type: 'tool-invocation' },
  ])
    expect(chatMessages({ role: 'user', content: [part] })).toEqual([{ role: 'user', content: [part] }]);
});

it('keeps what is no list of parts as it is', () => {
  for (const message of ['x', null, { role: 'user', content: 'a' }, { role: 'user' }])
    expect(chatMessages(message)).toEqual([message]);
  expect(chatMessages({ role: 'user', content: [] })).toEqual([{ role: 'user', content: '' }]);
  expect(chatMessages({ role: 'user', content: 'a', parts: [] })).toEqual([{ role: 'user', content: 'a' }]);
  expect(chatMessages({ role: 'tool', content: [{ type: 'tool-approval-response' }] })).toEqual([]);
});
