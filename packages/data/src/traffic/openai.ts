import * as z from 'zod';
import { describedFailure } from './described-failure.ts';
import type { RecordedExchange } from './recorded-exchange.ts';
import { requestOwner } from './request-owner.ts';
import { itemMessages } from './responses-items.ts';

/** A name that may be absent or null. */
const label = z
  .string()
  .nullish()
  .transform((name) => name ?? undefined);

const chatRequest = z.looseObject({
  messages: z.array(z.unknown()),
  model: label,
  tools: z.unknown().optional(),
});
const chatResponse = z.looseObject({
  id: label,
  model: label,
  choices: z.array(z.looseObject({ message: z.looseObject({ role: z.string() }) })).min(1),
});
/** A chat request and its response, or a conversation as fine-tuning files have it. */
export const chatExchange = z.object({ request: chatRequest, response: chatResponse.optional() });

const item = z.looseObject({ type: z.string().optional(), role: z.string().optional() });
const responsesRequest = z.looseObject({
  input: z.union([z.string(), z.array(item)]),
  instructions: z.string().nullish(),
  model: label,
  tools: z.unknown().optional(),
});
const responsesResponse = z.looseObject({
  id: label,
  model: label,
  status: z.string().nullish(),
  error: z.unknown().optional(),
  output: z.array(item),
});
/** A request of the Responses API and its response. */
export const responsesExchange = z.object({ request: responsesRequest, response: responsesResponse });

/** One exchange for each choice: those of one request are answers to compare. */
export function chatExchanges({ request, response }: z.output<typeof chatExchange>): RecordedExchange[] {
  const model = response?.model ?? request.model;
  const facts = {
    format: 'openai-chat' as const,
    ...(model !== undefined && { model }),
    ...requestOwner(request),
    tools: request.tools,
  };
  if (response === undefined) return [{ ...facts, messages: request.messages }];
  const { id, choices } = response;
  return choices.map(({ message }, place) => ({
    ...facts,
    ...(id !== undefined && { id: choices.length > 1 ? `${id}/${place}` : id }),
    messages: [...request.messages, message],
  }));
}

/** The exchange as a conversation of the chat API. */
export function responsesExchanges({
  request,
  response,
}: z.output<typeof responsesExchange>): RecordedExchange[] {
  const { input, instructions } = request;
  const system = instructions == null ? [] : [{ role: 'system', content: instructions }];
  const asked = typeof input === 'string' ? [{ role: 'user', content: input }] : itemMessages(input);
  const model = response.model ?? request.model;
  const said = itemMessages(response.output);
  const failure = said.length === 0 ? failureOf(response) : undefined;
  // A model that only reasoned, or nothing, said nothing.
  if (said.length === 0 && failure === undefined) said.push({ role: 'assistant', content: '' });
  return [
    {
      format: 'openai-responses',
      ...(response.id !== undefined && { id: response.id }),
      ...(model !== undefined && { model }),
      ...(failure !== undefined && { unanswered: failure }),
      ...requestOwner(request),
      tools: request.tools,
      messages: [...system, ...asked, ...said],
    },
  ];
}

/** Why a response without output does not count as an answer. */
function failureOf({ status, error }: z.output<typeof responsesResponse>): string | undefined {
  const isOver = status == null || status === 'completed' || status === 'incomplete';
  if (error == null && isOver) return undefined;
  return `the response has ${[
    ...(isOver ? [] : [`status "${status}"`]),
    ...(error == null ? [] : [`error ${describedFailure(error)}`]),
  ].join(' and ')}`;
}
