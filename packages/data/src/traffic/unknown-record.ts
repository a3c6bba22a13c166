import { described, inWords, isRecord } from '@rlp/core';
import type * as z from 'zod';
import { describedFailure } from './described-failure.ts';
import { chatExchange, responsesExchange } from './openai.ts';
import { pairNames, unwrapped } from './record.ts';
import { wholeResponse } from './streamed-response.ts';

const forms =
  'expected a request with its response, a conversation, a span or a run of the AI SDK: { request, response } of the chat, Responses or Messages API, ' +
  '{ messages }, a span or an export of OTLP, or { prompt, steps }';

/** What is wrong with a record whose form is not known. Names the field, if it has a request or messages. */
export function unknownRecord(value: unknown): string {
  if (!isRecord(value)) return `${forms}; got ${described(value)}`;
  const names = pairNames.find(([asked, said]) => asked in value && said in value);
  if (names !== undefined) return unknownPair(value, names);
  const { messages, choices, response } = value;
  if (messages === undefined) return `${forms}; got ${described(value)}`;
  if (!Array.isArray(messages)) return `messages: expected a list of messages, got ${described(messages)}`;
  if (choices !== undefined)
    return `choices: expected a list with a message, got ${described(choices)}; leave out a record without an answer`;
  if (response !== undefined) return unknownPair({ request: value, response }, ['request', 'response']);
  const { place, problem } = firstFault(chatExchange, { request: value });
  return `${place.slice(1).join('.')}: ${problem}`;
}

function unknownPair(
  value: Readonly<Record<string, unknown>>,
  [asked, said]: (typeof pairNames)[number],
): string {
  const request = unwrapped(value[asked]);
  const { messages, input } = isRecord(request) ? request : {};
  const isChat = Array.isArray(messages);
  if (!isChat && typeof input !== 'string' && !Array.isArray(input))
    return `${asked}: expected an object with a list of messages (chat or Messages API) or an input (Responses API), got ${described(request)}`;
  const response = wholeResponse(unwrapped(value[said]));
  if (isRecord(response) && response.error != null)
    return `${said}: expected an answer to score, got the error ${describedFailure(response.error)}; leave the record out`;
  const { place, problem } = firstFault(isChat ? chatExchange : responsesExchange, { request, response });
  const field = [place[0] === 'request' ? asked : said, ...place.slice(1)].join('.');
  return `${field}: ${problem}; ${isChat ? chatForms : 'a response has a list named output'}`;
}

/** The first field that a form does not know. */
function firstFault(form: z.ZodType, pair: object) {
  const { path, message } = form.safeParse(pair).error!.issues[0]!;
  const got = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)?.[key], pair);
  return { place: path, problem: inWords(message, got) };
}

const chatForms =
  'a response has choices with a message (chat API) or is of type "message" with content (Messages API), or is the chunks of a chat stream';
