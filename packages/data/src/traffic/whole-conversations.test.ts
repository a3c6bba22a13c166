import { expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';

const hi = { role: 'user', content: 'Hi' };
const hello = { role: 'assistant', content: 'Hello!' };
const longer = [hi, hello, { role: 'user', content: 'Bye' }];
const longest = [...longer, { role: 'assistant', content: 'Bye!' }, { role: 'user', content: 'Wait' }];
const record = (
  id: string | undefined,
  messages: readonly object[],
  said: string,
  beside: object = {},
  request: object = {},
) => ({
  request: { ...request, messages },
  response: { ...(id !== undefined && { id }), choices: [{ message: { role: 'assistant', content: said } }] },
  ...beside,
});
const kept = (...records: readonly unknown[]) =>
  trajectoriesFromTraffic(records.map((one) => JSON.stringify(one)).join('\n'), { source: 'log' }).map(
    ({ id }) => id,
  );

it('keeps the records of other users with their labels', () => {
  const log = [
    record('r1', [hi], 'Hello!', { user: 'ann', rating: 1 }),
    record('r2', [hi], 'Hello!', { user: 'bob', rating: 5 }),
    record('r3', longer, 'Bye!', { user: 'cid', rating: 5 }),
  ];
  const found = trajectoriesFromTraffic(log.map((one) => JSON.stringify(one)).join('\n'));
  expect(found.map(({ task }) => task.metadata.columns)).toEqual([
    { user: 'ann', rating: 1 },
    { user: 'bob', rating: 5 },
    { user: 'cid', rating: 5 },
  ]);
});

it.each<[string, (place: number) => object]>([
  ['users', (place) => record(undefined, [hi], 'No.', { user: `u${place}` })],
  ['response ids', (place) => record(`r${place}`, [hi], 'No.')],
  ['times', (place) => record(undefined, [hi], 'No.', { timestamp: place })],
  ['users of the request', (place) => record(undefined, [hi], 'No.', {}, { user: `u${place}` })],
  [
    'metadata of the request',
    (place) => record(undefined, [hi], 'No.', {}, { metadata: { session_id: place } }),
  ],
  ['metadata beside it', (place) => record(undefined, [hi], 'No.', { metadata: { userId: place } })],
  ['users of runs', (place) => ({ prompt: 'Hi', response: { messages: [hello] }, user: place })],
  [
    'ids of responses of runs',
    (place) => ({ prompt: 'Hi', response: { id: `r${place}`, messages: [hello] } }),
  ],
  [
    'spans',
    (place) => ({ spanId: `s${place}`, attributes: { 'ai.prompt.messages': [hi], 'ai.response.text': 'x' } }),
  ],
])('keeps equal answers of other %s, so that a collapse to one answer is seen', (_, at) => {
  expect(kept(...Array.from({ length: 200 }, (_, place) => at(place)))).toHaveLength(200);
});

it('keeps equal choices of one response, also without an id', () => {
  const choices = [{ message: hello }, { message: hello }];
  expect(kept({ request: { messages: [hi] }, response: { id: 'r', choices } })).toEqual(['r/0', 'r/1']);
  const nameless = { request: { messages: [hi] }, response: { choices } };
  expect(kept(nameless, nameless)).toEqual(['log, line 1, 1', 'log, line 1, 2']);
});

it('leaves out copies: the same id, or the same record without one', () => {
  expect(kept(record('r', [hi], 'A', { timestamp: 1 }), record('r', [hi], 'A', { timestamp: 2 }))).toEqual([
    'r',
  ]);
  const nameless = record(undefined, [hi], 'A', { timestamp: 1 });
  expect(kept(nameless, nameless)).toHaveLength(1);
  expect(kept(record('r', [hi], 'A'), record('r', [hi], 'B'))).toHaveLength(2);
});

it('leaves out every earlier state of a conversation in any order', () => {
  const states = [record('a', [hi], 'Hello!'), record('b', longer, 'Bye!'), record('c', longest, 'Yes?')];
  expect(kept(...states)).toEqual(['c']);
  expect(kept(...states.toReversed())).toEqual(['c']);
});

it('a longer record leaves out one record of each earlier state, the nearest before it', () => {
  const open = (id: string) => record(id, [hi], 'Hello!');
  expect(kept(open('a'), open('b'), record('c', longer, 'Bye!'), open('d'))).toEqual(['a', 'c', 'd']);
  expect(kept(record('c', longer, 'Bye!'), open('d'), open('e'))).toEqual(['c', 'e']);
  const two = [
    open('a'),
    open('b'),
    record('c', longer, 'Bye!'),
    record('d', longer, 'Bye!'),
    record('e', longest, 'Yes?'),
  ];
  expect(kept(...two)).toEqual(['c', 'e']);
});

it('keeps each branch, and leaves out what both go on from', () => {
  expect(
    kept(record('a', [hi], 'Hello!'), record('b', longer, 'Bye!'), record('c', longer, 'Ciao!')),
  ).toEqual(['b', 'c']);
});

it.each<[object, object, number]>([
  [{ user: 'ann' }, { user: 'ann' }, 1],
  [{ user: 'ann' }, { user: 'bob' }, 2],
  [{ sessionId: 1, user: 'ann' }, { sessionId: 1, user: 'ann' }, 1],
  [{ sessionId: 1 }, { sessionId: 2 }, 2],
  [{ trace_id: 1 }, { trace_id: 2 }, 2],
  [
    { id: 'log-1', created: 1, latency_ms: 3, span_id: 7 },
    { id: 'log-2', created: 2, latency_ms: 4, span_id: 8 },
    1,
  ],
  [{ metadata: { user_id: 1, requestId: 1 } }, { metadata: { user_id: 1, requestId: 2 } }, 1],
  [{ metadata: { user_id: 1 } }, { metadata: { user_id: 2 } }, 2],
  [{ rating: 1 }, { rating: 5 }, 2],
])('takes %j and %j for conversations of so many owners', (one, other, count) => {
  expect(kept(record('a', [hi], 'Hello!', one), record('b', longer, 'Bye!', other))).toHaveLength(count);
});

it('a span goes on from another of its conversation, or else of its trace', () => {
  const span = (spanId: string, traceId: string, messages: readonly object[], beside: object = {}) => ({
    ...{ spanId, traceId },
    attributes: { 'gen_ai.input.messages': messages, 'gen_ai.output.messages': [hello], ...beside },
  });
  expect(kept(span('a', 't', [hi]), span('b', 't', longer))).toEqual(['b']);
  expect(kept(span('a', 't', [hi]), span('b', 'u', longer))).toEqual(['a', 'b']);
  const named = { 'gen_ai.conversation.id': 'c' };
  expect(kept(span('a', 't', [hi], named), span('b', 'u', longer, named))).toEqual(['b']);
});

it('reads many equal records in a time that grows with their number', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, place) =>
      record(`r${place}`, place % 2 === 0 ? [hi] : longer, 'Hello!'),
    );
  expect(kept(...many(4000))).toHaveLength(2000);
});
