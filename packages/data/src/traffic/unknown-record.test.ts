import { expect, it } from 'vitest';
import { trajectoriesFromTraffic } from '../traffic.ts';
import { unknownRecord } from './unknown-record.ts';

const forms =
  'expected a request with its response, a conversation, a span or a run of the AI SDK: { request, response } of the chat, Responses or Messages API, ' +
  '{ messages }, a span or an export of OTLP, or { prompt, steps }';
const request = { messages: [{ role: 'user', content: 'q' }] };

it.each([
  [{}, 'an object with no fields'],
  [{ prompt: 'x', completion: 'y' }, 'an object with prompt, completion'],
  [7, '7'],
  ['text', '"text"'],
  [null, 'null'],
])('names the forms that are known, and what %j is', (record, got) => {
  expect(unknownRecord(record)).toBe(`${forms}; got ${got}`);
  expect(() => trajectoriesFromTraffic(JSON.stringify(record))).toThrow(
    `traffic, line 1: ${forms}; got ${got}`,
  );
});

it.each<[object, string | RegExp]>([
  [
    { request, response: null },
    /^response: expected an object, got null; a response has choices with a message/,
  ],
  [{ request, response: {} }, /^response\.choices: expected a list, got nothing; a response has choices/],
  [
    { input: request, output: { choices: [] } },
    /^output\.choices: expected at least 1 item, got 0; a response/,
  ],
  [
    { request, response: { choices: [{ text: 'a' }] } },
    /^response\.choices\.0\.message: expected an object, got nothing/,
  ],
  [
    { ...request, response: { error: 'down' } },
    'response: expected an answer to score, got the error "down"; leave the record out',
  ],
  [{ request: { ...request, model: 7 }, response: {} }, /^request\.model: expected text, got 7/],
  [
    { request, response: { error: { message: 'rate limit' } } },
    'response: expected an answer to score, got the error "rate limit"; leave the record out',
  ],
  [{ request, response: { body: { error: 'down' } } }, /got the error "down"/],
  [{ request, response: { error: 'x'.repeat(500) } }, /got the error "x{120}…";/],
  [{ request, response: 'data: {"error":{"message":"cut"}}\n\n' }, /got the error "cut"/],
  [
    { request: { input: 'q' }, response: { id: 'r' } },
    'response.output: expected a list, got nothing; a response has a list named output',
  ],
  [
    { request: { prompt: 'q' }, response: {} },
    /^request: expected an object with a list of messages .*, got an object with prompt$/,
  ],
  [{ input: [1], output: {} }, /^input: expected an object with .*, got a list$/],
  [{ ...request, model: 7 }, /^model: expected text, got 7/],
  [{ messages: 'q' }, 'messages: expected a list of messages, got "q"'],
  [
    { ...request, choices: [] },
    'choices: expected a list with a message, got an empty list; leave out a record without an answer',
  ],
])('names the field of %j', (record, problem) => {
  const found = unknownRecord(record);
  if (typeof problem === 'string') expect(found).toBe(problem);
  else expect(found).toMatch(problem);
  expect(() => trajectoriesFromTraffic(JSON.stringify(record))).toThrow(found);
});
