import type { Message, ToolCall, ToolSchema } from '@rlp/core';
import * as z from 'zod';
import type { AnswerRequest, Conversation, ToolChoice } from '../answer/request.ts';
import { ApiError } from '../api-error.ts';
import { unmetFormat } from '../openai/sampling.ts';

const text = z.looseObject({ type: z.literal('text'), text: z.string() });
/** Thoughts of another model. They are left out. */
const thinking = z.looseObject({ type: z.enum(['thinking', 'redacted_thinking']) });
const toolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});
const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(text)]).nullish(),
});
const block = z.discriminatedUnion(
  'type',
  [text, thinking, toolUse, toolResult],
  'expected a block of text, tool_use or tool_result',
);
type Block = z.output<typeof block>;

const toolSchema = z.looseObject({
  type: z.literal('custom', 'expected a tool with input_schema, other tools do not run here').nullish(),
  name: z.string().min(1),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
});

/** Body of `/v1/messages`. */
export const messagesSchema = z.looseObject({
  model: z.string().nullish(),
  max_tokens: z.int().min(1),
  messages: z.array(
    z.looseObject({
      role: z.enum(['user', 'assistant', 'system']),
      content: z.union([z.string(), z.array(block)]),
    }),
  ),
  system: z.union([z.string(), z.array(text)]).nullish(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  tools: z.array(toolSchema).nullish(),
  tool_choice: z
    .looseObject({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: z.string().nullish(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .refine(({ type, name }) => type !== 'tool' || name != null, 'expected the name of the tool')
    .nullish(),
  stream: z.boolean().nullish(),
  output_config: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  output_format: z.looseObject({ type: z.string() }).nullish(),
  thread: z.unknown().optional(),
});

type Body = z.output<typeof messagesSchema>;

/** The request in the words of the answerer. @throws ApiError for what needs stored conversations, and for a begun answer. */
export function requestOf(body: Body): AnswerRequest {
  requireWhole(body);
  const { temperature, top_p: topP, top_k: topK, stop_sequences: stops } = body;
  const stopStrings = (stops ?? []).filter((stop) => stop !== '');
  return {
    model: body.model ?? undefined,
    prompt: conversationOf(body),
    sampling: {
      maxTokens: body.max_tokens,
      ...(temperature != null && { temperature: temperature < 1e-5 ? 0 : temperature }),
      ...(topP != null && { topP }),
      ...(topK != null && { topK }),
      ...(stopStrings.length > 0 && { stopStrings }),
    },
    unmet: [
      ...unmetFormat(body.output_config?.format?.type, 'output_config.format'),
      ...unmetFormat(body.output_format?.type, 'output_format'),
    ],
    ...(body.tool_choice?.disable_parallel_tool_use === true && { maxCalls: 1 }),
  };
}

function requireWhole({ thread, messages }: Body): void {
  if (thread != null) {
    throw new ApiError(
      400,
      'thread: this server stores no conversations; send all messages, without thread',
      {
        param: 'thread',
        // Clients that see it send the whole conversation from then on.
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      },
    );
  }
  if (messages.at(-1)?.role !== 'assistant') return;
  throw new ApiError(
    400,
    "messages: the last one is the assistant's, and an answer that is begun is not continued here; end with a message of the user",
    { param: 'messages' },
  );
}

/** The conversation in core's words. */
export function conversationOf(
  body: Pick<Body, 'messages' | 'system' | 'tools' | 'tool_choice'>,
): Conversation {
  const { system, messages, tools, tool_choice: choice } = body;
  const instruction =
    typeof system === 'string' ? system : (system ?? []).map((part) => part.text).join('\n');
  const opening: Message[] = instruction === '' ? [] : [{ role: 'system', content: instruction }];
  return {
    messages: [...opening, ...messages.flatMap(({ role, content }) => messagesOf(role, content))],
    ...(tools != null && tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(choice != null && { toolChoice: choiceOf(choice) }),
  };
}

function messagesOf(role: 'user' | 'assistant' | 'system', content: string | readonly Block[]): Message[] {
  if (typeof content === 'string') return [{ role, content }];
  const said = content.filter((part) => part.type === 'text').map((part) => part.text);
  const results = content.filter((part) => part.type === 'tool_result');
  const calls = content.filter((part) => part.type === 'tool_use').map(callOf);
  const answers = results.map(({ tool_use_id, content: result }): Message => {
    const whole = typeof result === 'string' ? result : (result ?? []).map((part) => part.text).join('\n');
    return { role: 'tool', content: whole, tool_call_id: tool_use_id };
  });
  if (said.length === 0 && calls.length === 0 && answers.length > 0) return answers;
  const message = { role, content: said.join('\n'), ...(calls.length > 0 && { tool_calls: calls }) };
  return [...answers, message];
}

function callOf({ id, name, input }: z.output<typeof toolUse>): ToolCall {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

function toolOf({ name, description, input_schema: parameters }: z.output<typeof toolSchema>): ToolSchema {
  return { type: 'function', function: { name, ...(description != null && { description }), parameters } };
}

function choiceOf({ type, name }: NonNullable<Body['tool_choice']>): ToolChoice {
  if (type === 'tool') return { name: name! };
  return type === 'any' ? 'required' : type;
}
