import { describe, expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';

const said = { role: 'assistant', content: 'cat' };
const what = { type: 'text', text: 'what' };
const otelWhat = { type: 'text', content: 'what' };

describe.each<[string, string, object]>([
  [
    'the chat API',
    'image_url',
    {
      request: {
        messages: [{ role: 'user', content: [what, { type: 'image_url', image_url: { url: 'x' } }] }],
      },
      response: { choices: [{ message: said }] },
    },
  ],
  [
    'the Messages API',
    'image',
    {
      request: { messages: [{ role: 'user', content: [what, { type: 'image', source: {} }] }] },
      response: { type: 'message', ...said },
    },
  ],
  [
    'the AI SDK',
    'image',
    {
      messages: [{ role: 'user', content: [what, { type: 'image', image: 'x' }] }],
      response: { messages: [said] },
    },
  ],
  [
    'the user interface of the AI SDK',
    'file',
    { messages: [{ role: 'user', parts: [what, { type: 'file', mediaType: 'image/png' }] }, said] },
  ],
  [
    'OpenTelemetry',
    'blob',
    {
      spanId: 's',
      attributes: {
        'gen_ai.input.messages': [{ role: 'user', parts: [otelWhat, { type: 'blob', modality: 'image' }] }],
        'gen_ai.output.messages': [said],
      },
    },
  ],
])('images in logs of %s', (_, type, record) => {
  const log = JSON.stringify(record);

  it('are refused', () => {
    expect(() => trajectoriesFromTraffic(log)).toThrow(
      `messages.0.content: expected text or parts of text, got a part of type "${type}"`,
    );
  });

  it('are named if asked', () => {
    const [named] = trajectoriesFromTraffic(log, { otherParts: 'name' });
    expect(named!.messages).toEqual([{ role: 'user', content: `what[${type}]` }, said]);
  });
});

it('keeps text of a user beside what a tool gave', () => {
  const parts = [otelWhat, { type: 'tool_call_response', id: 'c', response: 'sun' }];
  const attributes = { 'gen_ai.input.messages': [{ role: 'user', parts }], 'gen_ai.output.messages': [said] };
  const [read] = trajectoriesFromTraffic(JSON.stringify({ spanId: 's', attributes }));
  expect(read!.messages).toEqual([
    { role: 'user', content: 'what' },
    { role: 'tool', content: 'sun', tool_call_id: 'c' },
    said,
  ]);
});

it('reads a conversation with the Messages API', () => {
  const tool = { name: 'weather', description: 'Says it.', input_schema: { type: 'object' } };
  const request = {
    ...{
      model: 'claude',
      system: [{ type: 'text', text: 'Be short.' }],
      tools: [tool],
      metadata: { user_id: 'u' },
    },
    messages: [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't', name: 'weather', input: { city: 'Rome' } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'sun' }] }],
      },
    ],
  };
  const content = [{ type: 'text', text: 'Sun.' }];
  const response = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-4', content };
  const [read] = trajectoriesFromTraffic(JSON.stringify({ request, response, rating: 5 }));
  const { input_schema: parameters, ...named } = tool;
  expect(read!.task.metadata).toEqual({
    ...{ format: 'anthropic-messages', model: 'claude-4', columns: { rating: 5 } },
    tools: [{ type: 'function', function: { ...named, parameters } }],
  });
  const called = { id: 't', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
  expect(read).toMatchObject({ id: 'msg_1', response: 'Sun.' });
  expect(read!.messages).toEqual([
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: '', tool_calls: [called] },
    { role: 'tool', content: 'sun', tool_call_id: 't' },
    { role: 'assistant', content: 'Sun.' },
  ]);
});

it('reads a run of the AI SDK whose messages are those of a user interface, with its model, its name and its columns', () => {
  const messages = [{ id: 'm', role: 'user', parts: [what] }];
  const response = { id: 'r', modelId: 'gpt', messages: [said] };
  const [read] = trajectoriesFromTraffic(JSON.stringify({ messages, response, usage: {}, rating: 5 }));
  expect(read).toMatchObject({ id: 'r', messages: [{ content: 'what' }, said] });
  expect(read!.task.metadata).toEqual({ format: 'ai-sdk', model: 'gpt', columns: { rating: 5 } });
});
