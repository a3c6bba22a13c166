import { describe, expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';

const user = (content: unknown) => ({ role: 'user', content });
const said = (content: string) => ({ role: 'assistant', content });
const calling = (given: string) => ({
  ...said(''),
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: given } }],
});
const read = (...records: readonly (readonly unknown[])[]) => {
  const lines = records.map((messages, at) =>
    JSON.stringify({
      request: { messages: messages.slice(0, -1) },
      response: { id: `r${at}`, choices: [{ message: messages.at(-1) }] },
    }),
  );
  return trajectoriesFromTraffic(lines.join('\n'), { otherParts: 'name' }).map(({ id }) => id);
};

describe('a conversation that goes on', () => {
  it('may write the arguments of a call with other spaces', () => {
    const told = { role: 'tool', tool_call_id: 'c', content: 'x' };
    expect(
      read([user('Hi'), calling('{"a": 1}')], [user('Hi'), calling('{"a":1}'), told, said('Y')]),
    ).toEqual(['r1']);
    expect(
      read([user('Hi'), calling('{"a": 2}')], [user('Hi'), calling('{"a":1}'), told, said('Y')]),
    ).toHaveLength(2);
  });

  it('shows the same image, wherever a cache ends', () => {
    const image = (url: string) => ({ type: 'image_url', image_url: { url } });
    const cached = { ...image('x'), cache_control: { type: 'ephemeral' } };
    const further = (part: object) => [user([part]), said('A cat.'), user('And now?'), said('A dog.')];
    expect(read([user([cached]), said('A cat.')], further(image('x')))).toEqual(['r1']);
    expect(read([user([image('x')]), said('A cat.')], further(image('y')))).toEqual(['r0', 'r1']);
  });

  it('makes the same call, also of a function without tools', () => {
    const made = (given: string) => ({ ...said(''), function_call: { name: 'f', arguments: given } });
    const told = { role: 'function', name: 'f', content: 'x' };
    expect(read([user('Hi'), made('{}')], [user('Hi'), made('{}'), told, said('Y')])).toEqual(['r1']);
    expect(read([user('Hi'), made('{"a":1}')], [user('Hi'), made('{}'), told, said('Y')])).toHaveLength(2);
  });
});

it('a stream keeps the call of a function without tools', () => {
  const chunk = (delta: object) => ({ choices: [{ delta }] });
  const response = [
    chunk({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '' } }),
    chunk({ function_call: { arguments: '{"a":' } }),
    chunk({ function_call: { arguments: '1}' } }),
  ];
  const [read] = trajectoriesFromTraffic(JSON.stringify({ request: { messages: [user('Hi')] }, response }));
  expect(read!.messages[1]).toMatchObject({ function_call: { name: 'f', arguments: '{"a":1}' } });
});

it('data for a user interface are no part of what was said', () => {
  const parts = [
    { type: 'text', text: 'Hello' },
    { type: 'data-weather', data: { degrees: 2 } },
  ];
  const record = { messages: [user('Hi'), { role: 'assistant', parts }] };
  expect(trajectoriesFromTraffic(JSON.stringify(record))[0]!.response).toBe('Hello');
});

describe('exports of programs that observe agents', () => {
  const observed = (input: unknown, beside: object, output: object = said('Hello')) =>
    JSON.stringify({ type: 'GENERATION', input, output, ...beside });

  it('are a list of messages and the one that answers', () => {
    const [read] = trajectoriesFromTraffic(observed([user('Hi')], { id: 'g' }));
    expect(read!.messages).toEqual([user('Hi'), said('Hello')]);
    const [wrapped] = trajectoriesFromTraffic(observed({ messages: [user('Hi')] }, {}));
    expect(wrapped!.response).toBe('Hello');
  });

  it('go on in another trace of their session, and not in one of another session', () => {
    const further = [user('Hi'), said('Hello'), user('More')];
    const read = (session: string) =>
      trajectoriesFromTraffic(
        [
          observed([user('Hi')], { id: 'a', traceId: 't1', sessionId: 's' }),
          observed(further, { id: 'b', traceId: 't2', sessionId: session }, said('Yes')),
        ].join('\n'),
      ).map(({ response }) => response);
    expect(read('s')).toEqual(['Yes']);
    expect(read('other')).toEqual(['Hello', 'Yes']);
  });
});
