import { isRecord } from '@rlp/core';
import * as z from 'zod';
import { aiSdkExchange, aiSdkExchanges, aiSdkFields } from './ai-sdk.ts';
import { anthropicExchange, anthropicExchanges } from './anthropic.ts';
import { fromJsonText } from './json-text.ts';
import { chatExchange, chatExchanges, responsesExchange, responsesExchanges } from './openai.ts';
import { otelExchanges, otelExport } from './otel.ts';
import type { RecordedExchange } from './recorded-exchange.ts';
import { wholeResponse } from './streamed-response.ts';

const body = z.looseObject({ body: z.union([z.looseObject({}), z.array(z.unknown()), z.string().min(1)]) });
/** Names of a request and its response. */
export const pairNames = [
  ['request', 'response'],
  ['input', 'output'],
] as const;

/** Fields of a conversation that are no columns of its own. */
const ofConversation = ['id', 'messages', 'model', 'tools'];
/** Text or a number that names a conversation. */
const name = z.union([z.string().min(1), z.number()]).transform(String);

/**
 * The exchanges that a record of a log holds. The form of the record is recognised.
 *
 * - `{ request, response }` of OpenAI's chat or Responses API or Anthropic's Messages API, also as `{ input, output }` and with bodies,
 *   `{ messages, response }`, `{ messages, choices }` and `{ messages }`. A streamed response of the chat API may be a list of its chunks or their text.
 *   Also a list of messages with a message as its answer, as programs that observe agents export them.
 * - OpenTelemetry: an OTLP export or one span, by the semantic conventions for generative AI or with the AI SDK's attributes.
 * - AI SDK: `{ messages or prompt, steps }`, or with `response`.
 *
 * @returns `undefined` for a record of another form. An empty list for spans without messages.
 */
export function recordedExchanges(record: unknown): readonly RecordedExchange[] | undefined {
  const fields = z.looseObject({}).safeParse(record).data;
  if (fields === undefined) return undefined;
  const exported = otelExport.safeParse(fields);
  if (exported.success) return otelExchanges(exported.data);
  const used = aiSdkExchange.safeParse(fields);
  if (used.success) return withColumns(aiSdkExchanges(used.data), fields, aiSdkFields);
  for (const [asked, said] of pairNames) {
    const pair = {
      request: asRequest(unwrapped(fields[asked])),
      response: asResponse(wholeResponse(unwrapped(fields[said]))),
    };
    const found = exchangesOf(pair);
    if (found !== undefined) return withColumns(found, fields, [asked, said]);
  }
  if ('choices' in fields) return exchangesOf({ request: fields, response: fields });
  const flat = flatPair(fields);
  if (flat !== undefined) return flat.exchanges;
  const found = exchangesOf({ request: fields, response: undefined });
  const id = name.safeParse(fields.id).data;
  return withColumns(
    found?.map((one) => ({ ...(id !== undefined && { id }), ...one, isConversation: true })),
    fields,
    ofConversation,
  );
}

/** A list of messages, as programs that observe agents write what was asked, as a request of the chat API. */
function asRequest(asked: unknown): unknown {
  const areMessages =
    Array.isArray(asked) &&
    asked.length > 0 &&
    asked.every((one) => isRecord(one) && typeof one.role === 'string' && one.type === undefined);
  return areMessages ? { messages: asked } : asked;
}

/** A message alone as a response of the chat API. */
function asResponse(said: unknown): unknown {
  const isMessage =
    isRecord(said) && said.role === 'assistant' && said.type === undefined && !('choices' in said);
  if (!isMessage) return said;
  return { ...(typeof said.id === 'string' && { id: said.id }), choices: [{ message: said }] };
}

/** A record with the fields of a request and its response beside them. The exchanges are `undefined` if that is an error. */
function flatPair(fields: Readonly<Record<string, unknown>>) {
  const response = wholeResponse(unwrapped(fields.response));
  if (!isRecord(response)) return undefined;
  const found = exchangesOf({ request: fields, response });
  const known = [...ofConversation, 'response'];
  if (found !== undefined) return { exchanges: withColumns(found, fields, known) };
  return response.error == null ? undefined : { exchanges: undefined };
}

/** The exchanges, each with what the record says beside them. */
function withColumns(
  exchanges: readonly RecordedExchange[] | undefined,
  fields: Readonly<Record<string, unknown>>,
  known: readonly string[],
) {
  const beside = Object.entries(fields).filter(([field]) => !known.includes(field));
  if (beside.length === 0) return exchanges;
  const columns = Object.fromEntries(beside);
  return exchanges?.map((exchange) => ({ ...exchange, columns }));
}

function exchangesOf(pair: { readonly request: unknown; readonly response: unknown }) {
  const responses = responsesExchange.safeParse(pair);
  if (responses.success) return responsesExchanges(responses.data);
  const anthropic = anthropicExchange.safeParse(pair);
  if (anthropic.success) return anthropicExchanges(anthropic.data);
  const chat = chatExchange.safeParse(pair);
  return chat.success ? chatExchanges(chat.data) : undefined;
}

/** The body of a message of HTTP, as batch files and proxies write it. It may be JSON text. */
export function unwrapped(value: unknown): unknown {
  return fromJsonText(body.safeParse(value).data?.body ?? value);
}
