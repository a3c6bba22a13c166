import type { Message, ToolCall } from '@rlp/core';
import * as z from 'zod';
import type { AnswerRequest, ToolChoice } from '../../answer/request.ts';
import { ApiError } from '../../api-error.ts';
import { contentSchema, toolOf } from '../messages.ts';
import { samplingOf, unmetFormat } from '../sampling.ts';

const messageItem = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: contentSchema,
});
const callItem = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
const resultItem = z.looseObject({
  type: z.literal('function_call_output'),
  call_id: z.string(),
  output: contentSchema,
});
/** Thoughts of another model. They are left out. */
const reasoningItem = z.looseObject({ type: z.literal('reasoning') });
const item = z.union(
  [messageItem, callItem, resultItem, reasoningItem],
  'expected a message, function_call or function_call_output',
);

/** Body of `/v1/responses`. */
export const responsesSchema = z.looseObject({
  model: z.string().nullish(),
  input: z.union([z.string(), z.array(item).min(1)]),
  instructions: z.string().nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.literal('function', 'expected "function", other tools do not run here'),
        name: z.string().min(1),
        description: z.string().nullish(),
        parameters: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .nullish(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'required']),
      z.looseObject({ type: z.literal('function'), name: z.string() }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  include: z.array(z.string()).nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.unknown().optional(),
  background: z.boolean().nullish(),
  stream: z.boolean().nullish(),
});

/** A checked body of `/v1/responses`. */
export type ResponsesBody = z.output<typeof responsesSchema>;

/** Whether the client wants logprobs of the text. */
export const wantsLogprobs = ({ include, top_logprobs: top }: ResponsesBody) =>
  include?.includes('message.output_text.logprobs') === true || (top ?? 0) > 0;

/** The request in the words of the answerer. @throws ApiError for what needs stored responses. */
export function requestOf(body: ResponsesBody): AnswerRequest {
  const { previous_response_id, conversation, background } = body;
  const stored = { previous_response_id, conversation, background: background === true ? true : null };
  const param = Object.entries(stored).find(([, value]) => value != null)?.[0];
  if (param !== undefined) {
    const remedy = 'this server stores no responses; send the whole conversation as input';
    throw new ApiError(400, `${param}: ${remedy}`, { param });
  }
  const { instructions, tools, tool_choice: choice } = body;
  const opening: Message[] = instructions ? [{ role: 'system', content: instructions }] : [];
  return {
    model: body.model ?? undefined,
    prompt: {
      messages: [...opening, ...messagesOf(body.input)],
      ...(tools != null && tools.length > 0 && { tools: tools.map(toolOf) }),
      ...(choice != null && { toolChoice: choiceOf(choice) }),
    },
    sampling: samplingOf({ temperature: body.temperature, top_p: body.top_p }, body.max_output_tokens),
    unmet: unmetFormat(body.text?.format?.type, 'text.format'),
    topLogprobs: wantsLogprobs(body) ? (body.top_logprobs ?? 0) : 0,
    ...(body.parallel_tool_calls === false && { maxCalls: 1 }),
  };
}

function choiceOf(choice: NonNullable<ResponsesBody['tool_choice']>): ToolChoice {
  return typeof choice === 'string' ? choice : { name: choice.name };
}

/** Calls belong to the assistant's message before them. */
function messagesOf(input: ResponsesBody['input']): Message[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const messages: Message[] = [];
  for (const entry of input) {
    if (entry.type === 'reasoning') continue;
    if (entry.type === 'function_call') addCall(messages, entry);
    else if (entry.type === 'function_call_output') {
      messages.push({ role: 'tool', content: entry.output, tool_call_id: entry.call_id });
    } else {
      const role = entry.role === 'developer' ? 'system' : entry.role;
      messages.push({ role, content: entry.content });
    }
  }
  return messages;
}

function addCall(messages: Message[], entry: z.output<typeof callItem>): void {
  const { call_id: id, name, arguments: args } = entry;
  const call: ToolCall = { id, type: 'function', function: { name, arguments: args } };
  const last = messages.at(-1);
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', content: '', tool_calls: [call] });
  else messages[messages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] };
}
