import { type Message, type ToolSchema, toolCallSchema } from '@rlp/core';
import * as z from 'zod';
import type { ToolChoice } from '../answer/request.ts';

const textPart = z.object({ type: z.enum(['text', 'input_text', 'output_text']), text: z.string() });
const refusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });

/** Text, or parts of text. Images and sounds are refused. */
export const contentSchema = z
  .union([z.string(), z.array(z.union([textPart, refusalPart]))], 'expected text or parts of text')
  .transform((content) =>
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join(''),
  );

/** A field that changes what the model is to see, and is not read here. Clients may send `null`, an empty list or what is done anyway. */
export const unread = (remedy: string, usual?: boolean) =>
  z
    .custom<undefined>(
      (value) => value == null || value === usual || (Array.isArray(value) && value.length === 0),
      `is not read here; ${remedy}`,
    )
    .optional();

/** Variables that a chat template gets from other fields of a request. */
const ownVariables = ['messages', 'tools', 'add_generation_prompt'];

/** Further variables of a chat template. */
export const templateVariablesSchema = z
  .record(z.string(), z.unknown())
  .refine(
    (variables) => ownVariables.every((name) => !(name in variables)),
    `must not hold ${ownVariables.join(', ')}; send them as fields of the request`,
  );

/** A message of the chat API. */
export const chatMessageSchema = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
    content: contentSchema.nullish(),
    name: z.string().nullish(),
    tool_calls: z.array(toolCallSchema).nullish(),
    tool_call_id: z.string().nullish(),
    refusal: z.string().nullish(),
    function_call: unread('send tool_calls, and answer them with role "tool"'),
    audio: unread('send its text as content'),
  })
  .transform(({ role, content, refusal, name, tool_calls: calls, tool_call_id: answered }): Message => {
    const own = role === 'developer' ? 'system' : role === 'function' ? 'tool' : role;
    return {
      ...{ role: own, content: [content, refusal].filter(Boolean).join('\n') },
      ...(name != null && { name }),
      ...(calls != null && calls.length > 0 && { tool_calls: calls }),
      ...(answered != null && { tool_call_id: answered }),
    };
  });

const functionSchema = z.looseObject({
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

/** A tool of the chat API. */
export const chatToolSchema = z
  .object({
    type: z.literal('function', 'expected "function", other tools do not run here'),
    function: functionSchema,
  })
  .transform(({ function: tool }) => toolOf(tool));

/** A tool in core's shape. */
export function toolOf({ name, description, parameters }: z.output<typeof functionSchema>): ToolSchema {
  const described = {
    ...(description != null && { description }),
    ...(parameters != null && { parameters }),
  };
  return { type: 'function', function: { name, ...described } };
}

/** The choice of a tool in the chat API. */
export const chatToolChoiceSchema = z
  .union([
    z.enum(['auto', 'none', 'required']),
    z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
  ])
  .transform((choice): ToolChoice => (typeof choice === 'string' ? choice : { name: choice.function.name }));
