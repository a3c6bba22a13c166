import { expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';
import { wholeResponse } from './streamed-response.ts';

const chunk = (delta: object, more: object = {}) => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', model: 'm' },
  choices: [{ index: 0, delta, ...more }],
});
const chunks = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Su' }),
  chunk({ content: 'n.' }),
  { id: 'c1', choices: [{ index: 0, delta: null, finish_reason: 'stop' }] },
  { id: 'c1', choices: [], usage: { total_tokens: 3 } },
];
const text = `: hello\n${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`;
const request = {
  stream: true,
  messages: [
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: 'old' },
    { role: 'user', content: 'Now?' },
  ],
};

it.each<[string, unknown]>([
  ['chunks', chunks],
  ['text', text],
  ['text with other line ends', text.replaceAll('\n', '\r\n')],
  ['a body', { status_code: 200, body: text }],
  ['a body of chunks', { body: chunks }],
])('a stream of the chat API is one answer: %s', (_, response) => {
  expect(trajectoriesFromTraffic(JSON.stringify({ request, response }))).toMatchObject([
    { id: 'c1', response: 'Sun.', messages: { length: 4 }, task: { metadata: { model: 'm' } } },
  ]);
});

it('one chunk is a stream too', () => {
  expect(wholeResponse(chunk({ content: 'x' }))).toMatchObject({ choices: [{ message: { content: 'x' } }] });
});

it('joins calls, choices in their order, and refusals', () => {
  const call = (index: number, rest: object) => ({
    choices: [{ index: 1, delta: { tool_calls: [{ index, ...rest }] } }],
  });
  const streamed = [
    call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
    call(0, { function: { arguments: '{"x"' } }),
    call(1, { id: 'b', function: { name: 'g', arguments: '{}' } }),
    call(0, { function: { arguments: ':1}' } }),
    chunk({ refusal: 'I can' }),
    chunk({ refusal: 'not.' }),
  ];
  const called = (id: string, name: string, args: string) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  expect(wholeResponse(streamed)).toEqual({
    id: 'c1',
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: null, refusal: 'I cannot.' } },
      {
        index: 1,
        message: {
          role: 'assistant',
          content: '',
          tool_calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{}')],
        },
      },
    ],
  });
});

it('the stream of the Responses API ends with the whole response', () => {
  const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sun.' }] }];
  const events = [
    { type: 'response.output_text.delta', delta: 'Su' },
    { type: 'response.completed', response: { id: 'r', output } },
  ];
  const record = { request: { input: 'Weather?' }, response: events };
  expect(trajectoriesFromTraffic(JSON.stringify(record))).toMatchObject([{ id: 'r', response: 'Sun.' }]);
});

it('leaves other responses as they are, and a stream that failed is its error', () => {
  for (const other of [
    null,
    'text',
    7,
    [],
    [1],
    { choices: [] },
    { choices: [{ message: {} }] },
    [...chunks, chunk({ content: ['x'] })],
  ])
    expect(wholeResponse(other)).toBe(other);
  const failed = { error: { message: 'cut' } };
  expect(wholeResponse([...chunks, failed])).toBe(failed);
});
