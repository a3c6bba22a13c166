import { ArgumentError } from '@rlp/core';
import * as z from 'zod';
import { chatCall, jsonText } from './json-text.ts';
import type { RecordedExchange } from './recorded-exchange.ts';

const part = z.looseObject({ type: z.string() });
/** A message of the AI SDK. */
export const modelMessage = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(part)]),
});
const messages = z.array(modelMessage);
const answered = z.looseObject({ messages });

/** A call of `generateText` with its steps or its response. */
export const aiSdkExchange = z
  .looseObject({
    id: z.string().optional(),
    system: z.string().nullish(),
    prompt: z.union([z.string(), messages]).nullish(),
    messages: messages.nullish(),
    response: answered.optional(),
    steps: z.array(z.looseObject({ response: answered })).optional(),
  })
  .refine(({ response, steps = [] }) => response !== undefined || steps.length > 0);

/** The whole conversation. Throws an `ArgumentError` if nothing was asked. The last step's response has the messages of all steps. */
export function aiSdkExchanges(recorded: z.output<typeof aiSdkExchange>): RecordedExchange[] {
  const { id, system, prompt, messages: given, response, steps = [] } = recorded;
  const opening = system == null ? [] : [{ role: 'system' as const, content: system }];
  const asked =
    typeof prompt === 'string' ? [{ role: 'user' as const, content: prompt }] : (prompt ?? given ?? []);
  if (asked.length === 0) {
    throw new ArgumentError(
      'a run of the AI SDK needs what was asked, which its result does not hold: write { prompt, system, steps: result.steps }, or messages ' +
        'instead of prompt',
    );
  }
  const said = response ?? steps.at(-1)!.response;
  return [
    {
      format: 'ai-sdk',
      ...(id !== undefined && { id }),
      messages: [...opening, ...asked, ...said.messages].flatMap(chatMessages),
    },
  ];
}

/** A message of the AI SDK in the shape of the chat API. Files and reasoning are left out. */
export function chatMessages({ role, content }: z.output<typeof modelMessage>): object[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'tool') {
    return content
      .filter(({ type }) => type === 'tool-result')
      .map(({ toolCallId, output, result }) => ({
        ...{ role, tool_call_id: String(toolCallId), content: resultText(output ?? result) },
      }));
  }
  const texts = content.filter(({ type }) => type === 'text').map(({ text }) => String(text));
  const calls = content
    .filter(({ type }) => type === 'tool-call')
    .map(({ toolCallId, toolName, input, args }) =>
      chatCall(String(toolCallId), String(toolName), input ?? args),
    );
  return [{ role, content: texts.join(''), ...(calls.length > 0 && { tool_calls: calls }) }];
}

const wrapped = z.looseObject({ type: z.string(), value: z.unknown() });

function resultText(output: unknown): string {
  const { data } = wrapped.safeParse(output);
  return jsonText(data === undefined ? (output ?? '') : data.value);
}
