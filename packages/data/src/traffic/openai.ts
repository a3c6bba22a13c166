import * as z from 'zod';
import { chatCall, jsonText } from './json-text.ts';
import type { RecordedExchange } from './recorded-exchange.ts';

const chatRequest = z.looseObject({
  messages: z.array(z.unknown()),
  model: z.string().optional(),
  tools: z.unknown().optional(),
});
const chatResponse = z.looseObject({
  id: z.string().optional(),
  model: z.string().optional(),
  choices: z.array(z.looseObject({ message: z.looseObject({ role: z.string() }) })).min(1),
});
/** A chat request and its response, or a conversation as fine-tuning files have it. */
export const chatExchange = z.object({ request: chatRequest, response: chatResponse.optional() });

const item = z.looseObject({ type: z.string().optional(), role: z.string().optional() });
const responsesRequest = z.looseObject({
  input: z.union([z.string(), z.array(item)]),
  instructions: z.string().nullish(),
  model: z.string().optional(),
  tools: z.unknown().optional(),
});
const responsesResponse = z.looseObject({
  id: z.string().optional(),
  model: z.string().optional(),
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
  return [
    {
      format: 'openai-responses',
      ...(response.id !== undefined && { id: response.id }),
      ...(model !== undefined && { model }),
      tools: request.tools,
      messages: [...system, ...asked, ...itemMessages(response.output)],
    },
  ];
}

/** Items as messages. Text and calls that follow each other are one turn of the assistant. Reasoning is left out. */
function itemMessages(items: readonly z.output<typeof item>[]): object[] {
  const messages: { role: string; content: unknown; tool_calls?: object[] }[] = [];
  for (const { type = 'message', role = 'assistant', ...rest } of items) {
    const { call_id: id, name, arguments: given, output, content } = rest;
    const last = messages.at(-1);
    const open = last?.role === 'assistant' ? last : undefined;
    if (type === 'message') messages.push({ role, content: partsOrText(content) });
    else if (type === 'function_call_output') {
      messages.push({ role: 'tool', content: partsOrText(output), ...{ tool_call_id: String(id) } });
    } else if (type === 'function_call') {
      const call = chatCall(String(id), String(name), given);
      if (open === undefined) messages.push({ role, content: '', tool_calls: [call] });
      else open.tool_calls = [...(open.tool_calls ?? []), call];
    }
  }
  return messages;
}

/** Parts are left to the reader of messages, which knows those that are text. */
function partsOrText(content: unknown): unknown {
  return Array.isArray(content) ? content : jsonText(content ?? '');
}
