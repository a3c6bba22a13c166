import { describe, expect, it } from 'vitest';
import { recordedExchanges } from './record.ts';

const asked = { role: 'user', content: 'q' };
const said = { role: 'assistant', content: 'a' };
/** The one exchange of a record. */
const exchangeOf = (record: unknown) => {
  const exchanges = recordedExchanges(record);
  expect(exchanges).toHaveLength(1);
  return exchanges![0]!;
};
const messagesOf = (record: unknown) => exchangeOf(record).messages;

it.each([
  null,
  7,
  'text',
  [],
  {},
  { prompt: 'q' },
  { request: {}, response: {} },
  { messages: 'q' },
  { input: 'q' },
  { request: { input: 'q' } },
])('knows no exchange in %j', (record) => {
  expect(recordedExchanges(record)).toBeUndefined();
});

describe('a record of the chat API', () => {
  it('has its columns beside the exchange, and its facts where they are', () => {
    const tools = [{ type: 'function' }];
    expect(exchangeOf({ id: 'c', messages: [asked, said], model: 'm', tools, rating: 1 })).toStrictEqual({
      ...{ id: 'c', format: 'openai-chat', model: 'm', tools, isConversation: true },
      ...{ messages: [asked, said], columns: { rating: 1 } },
    });
    expect(exchangeOf({ messages: [asked, said] })).toStrictEqual({
      ...{ format: 'openai-chat', tools: undefined, isConversation: true, messages: [asked, said] },
    });
  });

  it.each([
    ['c', 'c'],
    [7, '7'],
    ['', undefined],
    [null, undefined],
    [{}, undefined],
  ])('has the id %j as its name %j', (id, name) => {
    expect(exchangeOf({ id, messages: [asked, said] }).id).toBe(name);
  });

  it('has no columns of what a request and its response hold, and the model that answered', () => {
    const request = { model: 'asked', messages: [asked], temperature: 1 };
    const response = { id: 'r', model: 'answered', choices: [{ message: said }] };
    const expected = {
      format: 'openai-chat',
      id: 'r',
      model: 'answered',
      tools: undefined,
      messages: [asked, said],
    };
    expect(exchangeOf({ request, response })).toStrictEqual(expected);
    expect(exchangeOf({ input: request, output: response })).toStrictEqual(expected);
    expect(exchangeOf({ ...request, ...response })).toStrictEqual(expected);
    expect(exchangeOf({ request, response: { choices: [{ message: said }] } })).toStrictEqual({
      ...{ format: 'openai-chat', model: 'asked', tools: undefined, messages: [asked, said] },
    });
    expect(exchangeOf({ request: { body: request }, response: { body: response }, at: 3 })).toStrictEqual({
      ...expected,
      columns: { at: 3 },
    });
  });

  it('names several choices by their places, and none without an id', () => {
    const record = (response: object) => ({ request: { messages: [asked] }, response });
    const choices = [{ message: said }, { message: said }];
    expect(recordedExchanges(record({ id: 'r', choices }))!.map(({ id }) => id)).toStrictEqual([
      'r/0',
      'r/1',
    ]);
    expect(recordedExchanges(record({ choices }))!.map(({ id }) => id)).toStrictEqual([undefined, undefined]);
  });
});

describe('a run of the AI SDK', () => {
  const response = { messages: [said] };

  it.each<[string, object, unknown[]]>([
    ['a prompt', { prompt: 'q', response }, [asked, said]],
    ['a prompt of messages', { prompt: [asked], response }, [asked, said]],
    [
      'a system message',
      { system: 'Be short.', prompt: 'q', response },
      [{ role: 'system', content: 'Be short.' }, asked, said],
    ],
    ['system and prompt of null', { system: null, prompt: null, messages: [asked], response }, [asked, said]],
    ['its last step', { prompt: 'q', steps: [{ response: { messages: [] } }, { response }] }, [asked, said]],
    [
      'its response before its steps',
      { prompt: 'q', response, steps: [{ response: { messages: [] } }] },
      [asked, said],
    ],
  ])('has %s', (_, record, messages) => {
    expect(messagesOf(record)).toStrictEqual(messages);
  });

  it('has its id, and asks for what was asked', () => {
    expect(exchangeOf({ id: 'run', prompt: 'q', response })).toStrictEqual({
      format: 'ai-sdk',
      id: 'run',
      messages: [asked, said],
    });
    expect(exchangeOf({ prompt: 'q', response })).not.toHaveProperty('id');
    for (const record of [{ response }, { prompt: [], response }, { messages: [], response }])
      expect(() => recordedExchanges(record)).toThrow(
        'a run of the AI SDK needs what was asked, which its result does not hold: write { prompt, system, steps: result.steps }, or messages instead of prompt',
      );
    expect(recordedExchanges({ prompt: 'q', steps: [] })).toBeUndefined();
  });

  it('joins texts, and reads calls and results of both versions', () => {
    const part = (type: string, rest: object) => ({ type, ...rest });
    const messages = [
      {
        role: 'assistant',
        content: [part('text', { text: 'So' }), part('reasoning', {}), part('text', { text: '…' })],
      },
      {
        role: 'assistant',
        content: [
          part('tool-call', { toolCallId: '1', toolName: 'f', input: { a: 1 } }),
          part('tool-call', { toolCallId: '2', toolName: 'g', args: { b: 2 } }),
          part('tool-call', { toolCallId: '3', toolName: 'h' }),
        ],
      },
      {
        role: 'tool',
        content: [
          part('tool-result', { toolCallId: '1', output: { type: 'text', value: 'sun' } }),
          part('tool-result', { toolCallId: '2', result: { sky: 'blue' } }),
          part('tool-result', { toolCallId: '3' }),
          part('tool-approval-response', {}),
        ],
      },
    ];
    const call = (id: string, name: string, given: string) => ({
      id,
      type: 'function',
      function: { name, arguments: given },
    });
    expect(messagesOf({ prompt: 'q', response: { messages } }).slice(1)).toStrictEqual([
      { role: 'assistant', content: 'So…' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [call('1', 'f', '{"a":1}'), call('2', 'g', '{"b":2}'), call('3', 'h', '{}')],
      },
      { role: 'tool', tool_call_id: '1', content: 'sun' },
      { role: 'tool', tool_call_id: '2', content: '{"sky":"blue"}' },
      { role: 'tool', tool_call_id: '3', content: '' },
    ]);
  });
});

describe('a span of OpenTelemetry', () => {
  const spanOf = (attributes: object, rest = {}) => ({ spanId: 's', attributes, ...rest });
  const input = (messages: unknown) => ({ 'gen_ai.input.messages': messages });

  it('has its ids, its model and its conversation', () => {
    const attributes = { ...input([asked]), 'gen_ai.request.model': 'asked' };
    expect(exchangeOf(spanOf(attributes))).toStrictEqual({
      format: 'opentelemetry',
      id: 's',
      model: 'asked',
      messages: [asked],
      unanswered: 'the span has no output of the model',
    });
    const more = { ...attributes, 'gen_ai.response.model': 'answered', 'gen_ai.conversation.id': 'c' };
    expect(exchangeOf(spanOf(more, { traceId: 't' }))).toMatchObject({
      model: 'answered',
      conversation: 'c',
    });
    expect(exchangeOf(spanOf(attributes, { traceId: 't' }))).toMatchObject({ conversation: 't' });
    expect(exchangeOf(spanOf({ 'gen_ai.output.messages': [said] }))).toStrictEqual({
      format: 'opentelemetry',
      id: 's',
      messages: [said],
    });
  });

  it('reads every span of an export, and leaves out those without messages', () => {
    const resourceSpans = [
      { scopeSpans: [{ spans: [{ attributes: input([asked]) }, { attributes: {} }] }, {}] },
      {},
    ];
    expect(recordedExchanges({ resourceSpans })).toStrictEqual([
      { format: 'opentelemetry', messages: [asked], unanswered: 'the span has no output of the model' },
    ]);
    expect(recordedExchanges({ resourceSpans: [] })).toStrictEqual([]);
    expect(recordedExchanges(spanOf({}))).toStrictEqual([]);
  });

  it('reads attributes of its events too', () => {
    const events = [
      { attributes: [{ key: 'gen_ai.input.messages', value: { stringValue: JSON.stringify([asked]) } }] },
    ];
    expect(messagesOf(spanOf([] as never, { events }))).toStrictEqual([asked]);
  });

  it('reads every type of a value', () => {
    const values = {
      role: { stringValue: 'user' },
      content: {
        kvlistValue: {
          values: [
            { key: 'n', value: { intValue: '7' } },
            { key: 'x', value: { doubleValue: 0.5 } },
            { key: 'is', value: { boolValue: false } },
            {
              key: 'list',
              value: {
                arrayValue: { values: [{ stringValue: 'a' }, { arrayValue: {} }, { kvlistValue: {} }] },
              },
            },
            { key: 'none', value: { arrayValue: null } },
            { key: 'no', value: { kvlistValue: null } },
          ],
        },
      },
    };
    const message = {
      kvlistValue: { values: Object.entries(values).map(([key, value]) => ({ key, value })) },
    };
    const attributes = [{ key: 'gen_ai.input.messages', value: { arrayValue: { values: [message] } } }];
    expect(messagesOf(spanOf(attributes))).toStrictEqual([
      { role: 'user', content: '{"n":7,"x":0.5,"is":false,"list":["a",[],{}],"none":[],"no":{}}' },
    ]);
  });

  it('reads parts: texts, calls without an id, and results of each name', () => {
    const part = (type: string, rest: object) => ({ type, ...rest });
    const system = [part('text', { content: 'Be short.' })];
    const messages = [
      { role: 'user', content: [part('text', { text: 'q' }), part('image', {})] },
      {
        role: 'assistant',
        parts: [
          part('tool_call', { name: 'f', arguments: { a: 1 } }),
          part('tool_call', { id: 'c', name: 'g' }),
        ],
      },
      {
        role: 'tool',
        parts: [
          part('tool_call_response', { id: 'c', response: 'sun' }),
          part('tool_call_response', { id: 'd', result: 7 }),
          part('tool_call_response', { id: 'e' }),
        ],
      },
      { role: 'assistant' },
    ];
    const call = (id: string, name: string, given: string) => ({
      id,
      type: 'function',
      function: { name, arguments: given },
    });
    expect(messagesOf(spanOf({ ...input(messages), 'gen_ai.system_instructions': system }))).toStrictEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: [{ type: 'text', text: 'q' }, { type: 'image' }] },
      { role: 'assistant', content: '', tool_calls: [call('call_0', 'f', '{"a":1}'), call('c', 'g', '{}')] },
      { role: 'tool', tool_call_id: 'c', content: 'sun' },
      { role: 'tool', tool_call_id: 'd', content: '7' },
      { role: 'tool', tool_call_id: 'e', content: '' },
      { role: 'assistant' },
    ]);
  });

  it("reads the AI SDK's attributes, with and without calls", () => {
    const prompt = { 'ai.prompt.messages': JSON.stringify([asked]) };
    expect(messagesOf(spanOf({ ...prompt, 'ai.response.text': 'a' }))).toStrictEqual([asked, said]);
    expect(messagesOf(spanOf({ ...prompt, 'ai.response.object': '{"a":1}' }))[1]).toMatchObject({
      content: '{"a":1}',
    });
    expect(exchangeOf(spanOf(prompt))).toMatchObject({ messages: [asked], unanswered: expect.any(String) });
    const calls = [{ toolCallId: '1', toolName: 'f', args: { a: 1 } }];
    expect(messagesOf(spanOf({ ...prompt, 'ai.response.toolCalls': calls }))[1]).toMatchObject({
      tool_calls: [{ id: '1', function: { name: 'f', arguments: '{"a":1}' } }],
    });
  });

  it('reads attributes with numbers: contents without a role, calls without an id, results', () => {
    const attributes = {
      'gen_ai.prompt.0.content': 'q',
      'gen_ai.prompt.1.role': 'assistant',
      'gen_ai.prompt.1.tool_calls.0.name': 'f',
      'gen_ai.prompt.1.tool_calls.1.name': 'g',
      'gen_ai.prompt.1.tool_calls.1.id': 'c',
      'gen_ai.prompt.2.role': 'tool',
      'gen_ai.prompt.2.content': 'sun',
      'gen_ai.prompt.2.tool_call_id': 'c',
      'gen_ai.prompt.4.content': 'behind a gap',
      'gen_ai.completion.0.content': 'a',
    };
    expect(messagesOf(spanOf(attributes))).toStrictEqual([
      asked,
      {
        ...{ role: 'assistant', content: '' },
        tool_calls: [
          { id: 'call_0', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'c', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      { role: 'tool', content: 'sun', tool_call_id: 'c' },
      said,
    ]);
  });

  it('has the tools that were offered, as they were written', () => {
    const toolsOf = (attributes: object) => exchangeOf(spanOf({ ...input([asked]), ...attributes })).tools;
    const parameters = { type: 'object' };
    expect(toolsOf({})).toBeUndefined();
    expect(toolsOf({ 'gen_ai.tool.definitions': 'no JSON' })).toBeUndefined();
    expect(toolsOf({ 'gen_ai.tool.definitions': [{ name: 'f', parameters }, 7] })).toStrictEqual([
      { name: 'f', parameters },
      7,
    ]);
    const sdk = [
      { name: 'f', inputSchema: parameters },
      { name: 'g', description: 'G.', inputSchema: parameters },
    ];
    expect(toolsOf({ 'ai.prompt.tools': sdk.map((tool) => JSON.stringify(tool)) })).toStrictEqual([
      { name: 'f', parameters },
      { name: 'g', description: 'G.', parameters },
    ]);
    const numbered = {
      'llm.request.functions.0.name': 'f',
      'llm.request.functions.0.parameters': '{"type":"object"}',
      'llm.request.functions.1.name': 'g',
      'llm.request.functions.1.description': 'G.',
      'llm.request.functions.3.name': 'behind a gap',
    };
    const [first, ...others] = toolsOf(numbered) as object[];
    expect(first).toStrictEqual({ name: 'f', parameters });
    expect(others).toStrictEqual([{ name: 'g', description: 'G.', parameters: undefined }]);
  });
});
