import { chatMessages } from '@rlp/core';
import * as z from 'zod';
import type { RecordedExchange } from './recorded-exchange.ts';
import { requestOwner } from './request-owner.ts';

const blocks = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

/** A request of Anthropic's Messages API and its response. */
export const anthropicExchange = z.object({
  request: z.looseObject({
    messages: z.array(z.unknown()),
    system: blocks.nullish(),
    model: z.string().optional(),
    tools: z.unknown().optional(),
  }),
  response: z.looseObject({
    type: z.literal('message'),
    role: z.literal('assistant'),
    id: z.string().optional(),
    model: z.string().optional(),
    content: blocks,
  }),
});

/** The exchange as a conversation of the chat API. */
export function anthropicExchanges({
  request,
  response,
}: z.output<typeof anthropicExchange>): RecordedExchange[] {
  const { system, messages } = request;
  const model = response.model ?? request.model;
  const opening = system == null ? [] : [{ role: 'system', content: system }];
  const { role, content } = response;
  return [
    {
      format: 'anthropic-messages',
      ...(response.id !== undefined && { id: response.id }),
      ...(model !== undefined && { model }),
      ...requestOwner(request),
      tools: request.tools,
      messages: [...opening, ...messages, { role, content }].flatMap(chatMessages),
    },
  ];
}
