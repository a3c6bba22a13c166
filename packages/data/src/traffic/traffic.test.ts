import { trajectorySchema } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';

const asked = { role: 'user', content: 'Weather in Rome?' };
const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
const called = { role: 'assistant', content: null, tool_calls: [call] };
const told = { role: 'tool', content: 'sunny', tool_call_id: 'c1' };
const said = { role: 'assistant', content: 'It is sunny.' };
/** The conversation that every form below holds. */
const conversation = [asked, { ...called, content: '' }, told, said];

const read = (...records: readonly unknown[]) => {
  const text = records.map((record) => JSON.stringify(record)).join('\n');
  const trajectories = trajectoriesFromTraffic(text, { source: 'log.jsonl' });
  for (const trajectory of trajectories) trajectorySchema.parse(JSON.parse(JSON.stringify(trajectory)));
  return trajectories;
};
const messagesOf = (...records: readonly unknown[]) => read(...records).map(({ messages }) => messages);

describe('logs of the chat API', () => {
  const request = {
    model: 'gpt',
    messages: [{ ...asked, content: [{ type: 'text', text: asked.content }] }, called, told],
  };
  const response = { id: 'chatcmpl-1', model: 'gpt-2026', choices: [{ index: 0, message: said }] };

  it.each([
    ['request and response', { request, response }],
    ['input and output', { input: request, output: response }],
    [
      'bodies',
      { request: { method: 'POST', body: request }, response: { status_code: 200, body: response } },
    ],
    ['one object', { ...request, ...response }],
    ['a request with its response among its fields', { ...request, response }],
  ])('reads %s', (_, record) => {
    const [trajectory] = read(record);
    expect(trajectory).toMatchObject({ id: 'chatcmpl-1', messages: conversation, response: 'It is sunny.' });
    expect(trajectory!.task.metadata).toEqual({ format: 'openai-chat', model: 'gpt-2026' });
  });

  it('keeps the tools that were offered, and leaves out those of the provider', () => {
    const tool = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
    const chat = { request: { ...request, tools: [tool] }, response };
    const asked = { input: 'Hi', tools: [{ type: 'web_search' }, { type: 'function', ...tool.function }] };
    const responses = { request: asked, response: { output: [{ type: 'message', content: 'Hello' }] } };
    for (const record of [chat, responses])
      expect(read(record)[0]!.task.metadata).toMatchObject({ tools: [tool] });
  });

  it('reads conversations without a response, named by their place', () => {
    const [trajectory] = read({ messages: conversation });
    expect(trajectory).toMatchObject({ id: 'log.jsonl, line 1', messages: conversation });
  });

  it('keeps the name of a conversation and what its record says beside it', () => {
    const [conversed] = read({ id: 17, messages: conversation, answer: 'sunny' });
    expect(conversed).toMatchObject({ id: '17', task: { metadata: { columns: { answer: 'sunny' } } } });
    const [exchanged] = read({ request, response, rating: 5 });
    expect(exchanged).toMatchObject({ id: 'chatcmpl-1', task: { metadata: { columns: { rating: 5 } } } });
  });

  it('tells the tasks of records without a name apart, and the parts of one by their number', () => {
    const other = [{ ...asked, content: 'And in Bern?' }, said];
    const choices = [said, { ...said, content: 'Rain.' }].map((message) => ({ message }));
    const ids = read({ messages: conversation }, { request, response: { choices } }, { messages: other });
    expect(ids.map(({ id, task }) => [id, task.id])).toEqual(
      ['line 1', 'line 2, 1', 'line 2, 2', 'line 3'].map((place) => Array(2).fill(`log.jsonl, ${place}`)),
    );
  });

  it('numbers other conversations of the same name', () => {
    const other = [{ ...asked, content: 'And in Bern?' }, said];
    expect(
      read({ id: 's', messages: conversation }, { id: 's', messages: other }).map(({ id }) => id),
    ).toEqual(['s', 's, 2']);
    const third = [{ ...asked, content: 'And in Oslo?' }, said];
    const all = read(...[conversation, other, third].map((messages) => ({ id: 's', messages })));
    expect(all.map(({ id, task }) => [id, task.id])).toEqual(['s', 's, 2', 's, 3'].map((id) => [id, id]));
  });

  it('leaves out no conversation without a word', () => {
    expect(() => read({ messages: [] })).toThrow(/log\.jsonl, line 1: .*got no message/);
    expect(() => read({ messages: [asked] })).toThrow(/expected a message of the assistant/);
  });

  it('names parts that are no text if asked', () => {
    const content = [
      { type: 'input_audio', input_audio: {} },
      { type: 'text', text: ' Weather?' },
    ];
    const log = JSON.stringify({ messages: [{ role: 'user', content }, said] });
    const [trajectory] = trajectoriesFromTraffic(log, { otherParts: 'name' });
    expect(trajectory!.messages[0]!.content).toBe('[input_audio] Weather?');
    expect(() => trajectoriesFromTraffic(log)).toThrow("set otherParts to 'name'");
  });

  it('keeps each of several choices', () => {
    const choices = [said, { ...said, content: 'Rain.' }].map((message) => ({ message }));
    const trajectories = read({ request, response: { ...response, choices } });
    expect(trajectories.map(({ id }) => id)).toEqual(['chatcmpl-1/0', 'chatcmpl-1/1']);
  });

  it('keeps the longest record of a conversation', () => {
    const first = { request: { messages: [asked] }, response: { choices: [{ message: called }] } };
    const last = { request, response };
    const other = { request: { messages: [asked] }, response: { choices: [{ message: said }] } };
    expect(messagesOf(first, last, last, other)).toEqual([conversation, [asked, said]]);
    expect(messagesOf(last, first)).toEqual([conversation]);
    const text = [first, last].map((record) => JSON.stringify(record)).join('\n');
    expect(trajectoriesFromTraffic(text, { conversations: 'each' })).toHaveLength(2);
    const leftOut: number[] = [];
    trajectoriesFromTraffic(text, { onLeftOut: ({ messages }) => leftOut.push(messages.length) });
    expect(leftOut).toEqual([first.request.messages.length + 1]);
  });

  it.each([
    [{ conversationId: 'a' }, { conversationId: 'b' }, 2],
    [{ thread_id: 'a' }, { thread_id: 'b' }, 2],
    [{ session_id: 'a', id: 1 }, { session_id: 'a', id: 2 }, 1],
    [{ id: 1 }, { id: 2 }, 2],
    [{ timestamp: 1, requestId: 1 }, { timestamp: 2, requestId: 2 }, 1],
    [{ turn_index: 1, totalTokens: 5, cost: 1 }, { turn_index: 2, totalTokens: 9, cost: 2 }, 1],
    [{ state: 'a' }, { state: 'b' }, 2],
    [{ label: 'a' }, {}, 2],
  ])('tells conversations of %j and %j apart if they are: %j', (one, other, count) => {
    const short = [asked, said];
    const long = [...short, { role: 'user', content: 'And tomorrow?' }, said];
    expect(read({ ...one, messages: short }, { ...other, messages: long })).toHaveLength(count);
  });

  it('takes answers with other calls for other conversations', () => {
    const calling = (args: string) => [
      asked,
      { ...called, tool_calls: [{ ...call, function: { ...call.function, arguments: args } }] },
    ];
    const goesOn = (args: string) => ({ messages: [...calling(args), told, said] });
    expect(read({ messages: calling('{"a":1}') }, goesOn('{"a":2}'))).toHaveLength(2);
    expect(read({ messages: calling('{"a":1}') }, goesOn('{"a":1}'))).toHaveLength(1);
  });

  it('keeps conversations of other ids and ratings that begin alike', () => {
    const short = [asked, said];
    const long = [...short, { role: 'user', content: 'And tomorrow?' }, said];
    const idsOf = (...records: object[]) => read(...records).map(({ id }) => id);
    expect(idsOf({ id: 'a', messages: short }, { id: 'b', messages: short })).toEqual(['a', 'b']);
    expect(idsOf({ id: 'a', messages: short }, { id: 'b', messages: long })).toEqual(['a', 'b']);
    expect(idsOf({ id: 'a', messages: short }, { id: 'a', messages: long })).toEqual(['a']);
    expect(messagesOf({ rating: 1, messages: short }, { rating: 5, messages: long })).toHaveLength(2);
    expect(messagesOf({ messages: short }, { messages: long })).toHaveLength(1);
    const turns = [short, long].map((messages, k) => ({
      id: `r${k}`,
      conversation_id: 'z',
      turn: k,
      messages,
    }));
    expect(idsOf(...turns)).toEqual(['r1']);
    expect(idsOf(...turns.map((turn) => ({ ...turn, rating: turn.turn })))).toEqual(['r0', 'r1']);
    const timed = [short, long].map((messages, k) => ({ createdAt: k, latency_ms: 7 * k, messages }));
    expect(messagesOf(...timed)).toHaveLength(1);
    expect(messagesOf({ x: 1, y: 2, messages: short }, { y: 2, x: 1, messages: short })).toHaveLength(1);
  });
});

it('reads logs of the Responses API', () => {
  const { name, arguments: given } = call.function;
  const input = [
    asked,
    { type: 'function_call', call_id: 'c1', name, arguments: given },
    { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
  ];
  const content = [{ type: 'output_text', text: 'It is sunny.', annotations: [] }];
  const output = [
    { type: 'reasoning', summary: [] },
    { type: 'message', role: 'assistant', content },
  ];
  const record = {
    request: { model: 'gpt', input, instructions: 'Be short.' },
    response: { id: 'resp_1', output },
  };
  expect(messagesOf(record)).toEqual([[{ role: 'system', content: 'Be short.' }, ...conversation]]);
  const modelOf = (model?: string) =>
    read({ ...record, response: { ...record.response, model } })[0]!.task.metadata.model;
  expect([modelOf(), modelOf('gpt-2026')]).toEqual(['gpt', 'gpt-2026']);
  const twice = [asked, input[1], { ...input[1], call_id: 'c2' }, ...input.slice(2)];
  const [, said] = messagesOf({ ...record, request: { input: twice } })[0]!;
  expect(said!.tool_calls).toMatchObject([{ id: 'c1' }, { id: 'c2' }]);
  expect(messagesOf({ request: { input: 'hi' }, response: { output } })[0]![0]).toEqual({
    role: 'user',
    content: 'hi',
  });
});

describe('OpenTelemetry', () => {
  const text = (content: string) => [{ type: 'text', content }];
  const input = [
    { role: 'user', parts: text(asked.content) },
    {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Rome' } }],
    },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'sunny' }] },
  ];
  const output = [{ role: 'assistant', parts: text('It is sunny.'), finish_reason: 'stop' }];
  const otlp = (attributes: Record<string, object>) => ({
    traceId: 't1',
    spanId: 's1',
    name: 'chat gpt',
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value })),
  });
  const exported = (...spans: object[]) => ({
    resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }],
  });
  const stringValue = (value: unknown) => ({ stringValue: JSON.stringify(value) });
  const chat = otlp({
    'gen_ai.operation.name': { stringValue: 'chat' },
    'gen_ai.request.model': { stringValue: 'gpt' },
    'gen_ai.input.messages': stringValue(input),
    'gen_ai.output.messages': stringValue(output),
  });

  it('reads spans of the semantic conventions, also pretty-printed, and leaves out others', () => {
    const tool = otlp({ 'gen_ai.operation.name': { stringValue: 'execute_tool' } });
    const pretty = JSON.stringify(exported(tool, chat), null, 2);
    const [trajectory, ...more] = trajectoriesFromTraffic(pretty);
    expect(more).toEqual([]);
    expect(trajectory).toMatchObject({ id: 's1', messages: conversation });
    expect(trajectory!.task.metadata).toEqual({ format: 'opentelemetry', model: 'gpt', conversation: 't1' });
    const answered = otlp({ 'gen_ai.response.model': { stringValue: 'gpt-2026' } }).attributes;
    const [named] = read({ ...chat, attributes: [...chat.attributes, ...answered] });
    expect(named!.task.metadata.model).toBe('gpt-2026');
  });

  it('reads structured attributes, system instructions and events', () => {
    const kvlist = (value: object): object => ({
      kvlistValue: { values: Object.entries(value).map(([key, each]) => ({ key, value: otlpValue(each) })) },
    });
    const otlpValue = (value: unknown): object => {
      if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } };
      return typeof value === 'object' ? kvlist(value as object) : { stringValue: String(value) };
    };
    const attributes = otlp({
      'gen_ai.system_instructions': otlpValue(text('Be short.')),
      'gen_ai.input.messages': otlpValue(input),
      'gen_ai.output.messages': otlpValue(output),
    }).attributes;
    const span = { ...otlp({}), events: [{ name: 'gen_ai.client.inference.operation.details', attributes }] };
    expect(messagesOf(span)).toEqual([[{ role: 'system', content: 'Be short.' }, ...conversation]]);
  });

  it('reads what has no parts, no ids and no arguments', () => {
    const calls = [
      { type: 'tool_call', name: 'weather' },
      { type: 'text', text: 'So: ' },
    ];
    const span = otlp({
      'gen_ai.system_instructions': { stringValue: 'Be short.' },
      'gen_ai.input.messages': stringValue([
        { role: 'user', content: 'Hi' },
        { role: 'assistant', parts: calls },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 7, result: { sky: 'blue' } }] },
      ]),
      'gen_ai.output.messages': stringValue([{ role: 'assistant', content: 'Blue.' }]),
    });
    const weather = { id: 'call_0', type: 'function', function: { name: 'weather', arguments: '{}' } };
    expect(messagesOf(span)).toEqual([
      [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'So: ', tool_calls: [weather] },
        { role: 'tool', content: '{"sky":"blue"}', tool_call_id: '7' },
        { role: 'assistant', content: 'Blue.' },
      ],
    ]);
    expect(read(span)[0]!.task.metadata).toStrictEqual({ format: 'opentelemetry', conversation: 't1' });
  });

  it('reads attributes of the AI SDK and attributes with numbers', () => {
    const prompt = [{ role: 'user', content: [{ type: 'text', text: asked.content }] }];
    const toolCalls = [{ toolCallId: 'c1', toolName: 'weather', input: '{"city":"Rome"}' }];
    const ai = otlp({
      'ai.prompt.messages': stringValue(prompt),
      'ai.response.toolCalls': stringValue(toolCalls),
    });
    const numbered = otlp({
      'gen_ai.prompt.0.role': { stringValue: 'user' },
      'gen_ai.prompt.0.content': { stringValue: asked.content },
      'gen_ai.completion.0.role': { stringValue: 'assistant' },
      'gen_ai.completion.0.tool_calls.0.id': { stringValue: 'c1' },
      'gen_ai.completion.0.tool_calls.0.name': { stringValue: 'weather' },
      'gen_ai.completion.0.tool_calls.0.arguments': { stringValue: '{"city":"Rome"}' },
    });
    expect(messagesOf(ai)).toEqual([conversation.slice(0, 2)]);
    expect(messagesOf(numbered)).toEqual([conversation.slice(0, 2)]);
  });

  it('keeps the tools that were offered, in each form', () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const bare = { name: 'weather', description: 'Says the weather.', parameters };
    const { parameters: inputSchema, ...described } = bare;
    const forms = [
      { 'gen_ai.tool.definitions': stringValue([{ type: 'function', ...bare }]) },
      {
        'ai.prompt.tools': {
          arrayValue: { values: [stringValue({ type: 'function', ...described, inputSchema })] },
        },
      },
      {
        'llm.request.functions.0.name': { stringValue: 'weather' },
        'llm.request.functions.0.description': { stringValue: 'Says the weather.' },
        'llm.request.functions.0.parameters': stringValue(parameters),
      },
    ];
    const messages = {
      'gen_ai.input.messages': stringValue(input),
      'gen_ai.output.messages': stringValue(output),
    };
    for (const form of forms) {
      expect(read(otlp({ ...messages, ...form }))[0]!.task.metadata).toMatchObject({
        tools: [{ type: 'function', function: bare }],
      });
    }
  });
});

it('reads runs of the AI SDK', () => {
  const input = { city: 'Rome' };
  const output = { type: 'json', value: { sky: 'clear' } };
  const messages = [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'weather', output }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'It is sunny.' },
      ],
    },
  ];
  const steps = [{ response: { messages: messages.slice(0, 2) } }, { response: { messages } }];
  const expected = [asked, conversation[1], { ...told, content: '{"sky":"clear"}' }, said];
  expect(messagesOf({ id: 'run-1', prompt: asked.content, steps })).toEqual([expected]);
  expect(() => messagesOf({ id: 'run-1', steps })).toThrow(
    /line 1: a run of the AI SDK needs what was asked/,
  );
  expect(messagesOf({ messages: [asked], response: { messages } })).toEqual([expected]);
  expect(messagesOf({ system: 'Be short.', messages: [asked], response: { messages } })).toEqual([
    [{ role: 'system', content: 'Be short.' }, ...expected],
  ]);
});

describe('records that cannot be read', () => {
  it.each([
    ['{"messages": [{"role": "user"', 'log.jsonl, line 2: expected one JSON value per line'],
    ['{"prompt": "x", "completion": "y"}', 'log.jsonl, line 2: expected a request with its response'],
    ['{"messages": [{"role": "wizard", "content": "x"}]}', /log\.jsonl, line 2: .*messages\.0\.role/],
    ['7', 'log.jsonl, line 2: expected a request with its response'],
  ])('names the place of %s', (line, message) => {
    const good = JSON.stringify({ messages: conversation });
    const text = `${good}\n${line}\n${good}x\n`;
    expect(() => trajectoriesFromTraffic(text, { source: 'log.jsonl' })).toThrow(message);
    const errors: string[] = [];
    const onMalformed = (error: Error) => errors.push(error.message);
    expect(trajectoriesFromTraffic(text, { source: 'log.jsonl', onMalformed })).toHaveLength(1);
    expect(errors).toHaveLength(2);
  });

  it('passes on errors that do not come from a record', () => {
    const broken = new Error('full');
    const onMalformed = () => {
      throw broken;
    };
    expect(() => trajectoriesFromTraffic('7', { onMalformed })).toThrow(broken);
  });

  it('names the record of an array', () => {
    const text = JSON.stringify([{ messages: conversation }, { nothing: 1 }]);
    expect(() => trajectoriesFromTraffic(text)).toThrow('traffic, record 2: expected');
    const [first] = trajectoriesFromTraffic(JSON.stringify([{ messages: conversation }]));
    expect(first!.id).toBe('traffic, record 1');
    const pretty = trajectoriesFromTraffic(`${JSON.stringify({ messages: conversation }, null, 1)}\n`);
    expect(pretty.map(({ id }) => id)).toEqual(['traffic']);
  });
});
