import type { Message, ToolCall } from '@rlp/core';
import { z } from 'zod';
import type { Prompt } from './prompts.ts';

/** A function that a model may call, in OpenAI shape; a plain name offers it without description. */
export type OfferedTool =
  | string
  | {
      readonly type: 'function';
      readonly function: {
        readonly name: string;
        readonly description?: string;
        /** JSON schema of the arguments. */
        readonly parameters?: unknown;
      };
    };

/** What {@link InferenceModule.batchGenerateWithTools} gives, prompt by prompt. */
export interface ToolResponses {
  /** Texts without the calls taken out of them. */
  readonly responses: readonly string[];
  /** The calls each response makes, in order. */
  readonly toolCalls: readonly (readonly ToolCall[])[];
}

/** An offered tool in OpenAI shape, as chat templates want it. */
export function toolSchema(tool: OfferedTool): Exclude<OfferedTool, string> {
  return typeof tool === 'string' ? { type: 'function', function: { name: tool } } : tool;
}

/** A prompt as a conversation: text is what a user says. */
export function conversation(prompt: Extract<Prompt, string | readonly Message[]>): readonly Message[] {
  return typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt;
}

const callSchema = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });

const callPattern = /<tool_call>\s*(\{[\s\S]*?\})\s*<\/tool_call>/g;

/**
 * Takes calls out of a response: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, the form of the Hermes and Qwen
 * chat templates. What is not JSON of that form, or calls a tool that was not offered, stays part of the text.
 */
export function parseToolCalls(
  text: string,
  offered: ReadonlySet<string>,
): { readonly text: string; readonly calls: readonly ToolCall[] } {
  const calls: ToolCall[] = [];
  const rest = text.replace(callPattern, (whole, json: string) => {
    const call = parseCall(json);
    if (call === undefined || !offered.has(call.name)) return whole;
    calls.push({
      id: `call_${calls.length}`,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    });
    return '';
  });
  return { text: calls.length > 0 ? rest.trim() : rest, calls };
}

function parseCall(json: string): z.output<typeof callSchema> | undefined {
  try {
    return callSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}
