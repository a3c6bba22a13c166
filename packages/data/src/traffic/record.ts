import * as z from 'zod';
import { aiSdkExchange, aiSdkExchanges } from './ai-sdk.ts';
import { chatExchange, chatExchanges, responsesExchange, responsesExchanges } from './openai.ts';
import { otelExchanges, otelExport } from './otel.ts';
import type { RecordedExchange } from './recorded-exchange.ts';

const body = z.looseObject({ body: z.looseObject({}) });
const pairNames = [
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
 * - `{ request, response }` of the chat or the Responses API, also as `{ input, output }` and with bodies, `{ messages, choices }` and
 *   `{ messages }`.
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
  if (used.success) return aiSdkExchanges(used.data);
  for (const [asked, said] of pairNames) {
    const pair = { request: unwrapped(fields[asked]), response: unwrapped(fields[said]) };
    const found = exchangesOf(pair);
    if (found !== undefined) return withColumns(found, fields, [asked, said]);
  }
  if ('choices' in fields) return exchangesOf({ request: fields, response: fields });
  const found = exchangesOf({ request: fields, response: undefined });
  const id = name.safeParse(fields.id).data;
  return withColumns(
    found?.map((one) => ({ ...(id !== undefined && { id }), ...one, isConversation: true })),
    fields,
    ofConversation,
  );
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
  const chat = chatExchange.safeParse(pair);
  return chat.success ? chatExchanges(chat.data) : undefined;
}

/** The body of a message of HTTP, as batch files and proxies write it. */
function unwrapped(value: unknown): unknown {
  return body.safeParse(value).data?.body ?? value;
}
