import { ArgumentError, chatMessages } from '@rlp/core';
import * as z from 'zod';
import { describedFailure } from './described-failure.ts';
import type { RecordedExchange } from './recorded-exchange.ts';

/** Messages of the AI SDK. Their contents are checked when they are read. */
export const sdkMessages = z.array(z.looseObject({ role: z.string() }));
const answered = z.looseObject({
  messages: sdkMessages,
  id: z.string().optional(),
  modelId: z.string().optional(),
});

/** A call of `generateText` with its steps or its response. */
export const aiSdkExchange = z
  .looseObject({
    id: z.string().optional(),
    system: z.string().nullish(),
    prompt: z.union([z.string(), sdkMessages]).nullish(),
    messages: sdkMessages.nullish(),
    response: answered.optional(),
    steps: z.array(z.looseObject({ response: answered })).optional(),
  })
  .refine(({ response, steps = [] }) => response !== undefined || steps.length > 0);

/** Fields of a run and of its result. Others are columns. */
export const aiSdkFields: readonly string[] = [
  ...['id', 'system', 'prompt', 'messages', 'response', 'steps', 'tools', 'model', 'request'],
  ...['text', 'content', 'reasoning', 'reasoningText', 'files', 'sources', 'toolCalls', 'toolResults'],
  ...['staticToolCalls', 'dynamicToolCalls', 'staticToolResults', 'dynamicToolResults', 'finishReason'],
  ...['rawFinishReason', 'usage', 'totalUsage', 'warnings', 'providerMetadata', 'output', 'error'],
];

/** The whole conversation. Throws an `ArgumentError` if nothing was asked. The last step's response has the messages of all steps. */
export function aiSdkExchanges(recorded: z.output<typeof aiSdkExchange>): RecordedExchange[] {
  const { system, prompt, messages: given, response, steps = [] } = recorded;
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
  const { id = said.id } = recorded;
  const failure = said.messages.length === 0 ? failureOf(recorded) : undefined;
  const silence = said.messages.length === 0 && failure === undefined;
  return [
    {
      format: 'ai-sdk',
      ...(id !== undefined && { id }),
      ...(said.modelId !== undefined && { model: said.modelId }),
      ...(failure !== undefined && { unanswered: failure }),
      messages: [
        ...[...opening, ...asked, ...said.messages].flatMap(chatMessages),
        ...(silence ? [{ role: 'assistant', content: '' }] : []),
      ],
    },
  ];
}

/** Why a run without messages said nothing, if it failed. A model may also say nothing. */
function failureOf({ error, finishReason, steps }: z.output<typeof aiSdkExchange>): string | undefined {
  if (error != null) return `the run failed: ${describedFailure(error)}`;
  const reason = finishReason ?? steps?.at(-1)?.finishReason;
  return reason === 'error' ? "the run failed: its finishReason is 'error'" : undefined;
}
