import { describe, expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';

const old = [
  { role: 'user', content: 'Weather?' },
  { role: 'assistant', content: 'old answer' },
  { role: 'user', content: 'And tomorrow?' },
];
const tooled = [
  { role: 'user', content: 'Weather?' },
  {
    role: 'assistant',
    content: 'old answer',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c', content: 'sun' },
];
const read = (...records: readonly unknown[]) =>
  trajectoriesFromTraffic(records.map((record) => JSON.stringify(record)).join('\n'), { source: 'log' });
const responses = (response: object) => ({ request: { input: old }, response: { id: 'r', ...response } });
const span = (attributes: object, rest: object = {}) => ({ spanId: 's', attributes, ...rest });

describe('a request without an answer is no conversation to score, and its earlier turn is not', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'a failed response',
      responses({ status: 'failed', output: [] }),
      /but the response has status "failed"; leave/,
    ],
    [
      'a failed response with its error',
      responses({ status: 'failed', error: { message: 'down' }, output: [{ type: 'reasoning' }] }),
      /status "failed" and error "down"/,
    ],
    ['a response that is not over', responses({ status: 'in_progress', output: [] }), /status "in_progress"/],
    ['an error without a status', responses({ error: { code: 'x' }, output: [] }), /has error "\{\\"code/],
    [
      'a run that failed',
      { messages: old, response: { messages: [] }, error: 'down' },
      /the run failed: "down"/,
    ],
    [
      'a run that ended by an error',
      { messages: old, response: { messages: [] }, finishReason: 'error' },
      /'error'/,
    ],
    [
      'steps that ended by an error',
      { messages: old, steps: [{ finishReason: 'error', response: { messages: [] } }] },
      /the run failed/,
    ],
    [
      'a span without output',
      span({ 'gen_ai.input.messages': tooled }),
      /the span has no output of the model/,
    ],
    [
      'a span with an empty output',
      span({ 'gen_ai.input.messages': old, 'gen_ai.output.messages': [] }),
      /no output/,
    ],
    [
      'a span with error status',
      span({ 'gen_ai.input.messages': old }, { status: { code: 2, message: 'timeout' } }),
      /the span failed: "timeout"/,
    ],
    [
      'a span with error status by name',
      span({ 'ai.prompt.messages': old }, { status: { code: 'STATUS_CODE_ERROR' } }),
      /the span failed; leave/,
    ],
    [
      'a span with numbers',
      span({ 'gen_ai.prompt.0.role': 'assistant', 'gen_ai.prompt.0.content': 'x' }),
      /no output/,
    ],
    ['a chat error', { request: { messages: old }, response: { error: 'down' } }, /got the error "down"/],
  ])('%s', (_, record, problem) => {
    expect(() => read(record)).toThrow(problem);
    expect(() => read(record)).toThrow('log, line 1: ');
  });
});

it.each<[string, unknown]>([
  ['only reasoning', responses({ status: 'incomplete', output: [{ type: 'reasoning', summary: [] }] })],
  ['an empty output', responses({ status: 'completed', output: [] })],
  ['no messages of a run', { messages: old, response: { messages: [] } }],
  [
    'no content of the chat API',
    {
      request: { messages: old },
      response: { choices: [{ message: { role: 'assistant', content: null } }] },
    },
  ],
  [
    'no content of the Messages API',
    { request: { messages: old }, response: { type: 'message', role: 'assistant', content: [] } },
  ],
])('a model that said nothing gave an empty response: %s', (_, record) => {
  expect(read(record)).toMatchObject([
    { response: '', messages: [...old, { role: 'assistant', content: '' }] },
  ]);
});

it('an export keeps its other spans, and each that cannot be read is reported', () => {
  const input = { 'gen_ai.input.messages': old };
  const output = { 'gen_ai.output.messages': [{ role: 'assistant', content: 'Rain.' }] };
  const spans = [
    { spanId: 'a', attributes: input },
    { spanId: 'b', attributes: { ...input, ...output } },
    { spanId: 'c', attributes: input },
  ];
  const errors: string[] = [];
  const found = trajectoriesFromTraffic(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }), {
    onMalformed: ({ message }) => errors.push(message),
  });
  expect(found.map(({ id, response }) => [id, response])).toEqual([['b', 'Rain.']]);
  expect(errors).toEqual([expect.stringContaining('"a"'), expect.stringContaining('"c"')]);
});

it('a receiver of errors that throws one is not asked twice', () => {
  let times = 0;
  const onMalformed = (error: Error) => {
    times += 1;
    throw error;
  };
  expect(() =>
    trajectoriesFromTraffic(JSON.stringify(responses({ status: 'failed', output: [] })), { onMalformed }),
  ).toThrow();
  expect(times).toBe(1);
});
