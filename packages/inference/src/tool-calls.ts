import type { ToolCall, ToolSchema } from '@rlp/core';

/** A function that a model may call. A plain name offers it without description. */
export type OfferedTool = string | ToolSchema;

/** What {@link InferenceModule.batchGenerateWithTools} gives, prompt by prompt. */
export interface ToolResponses {
  /** Texts without the calls taken out of them. */
  readonly responses: readonly string[];
  /** The calls each response makes, in order. */
  readonly toolCalls: readonly (readonly ToolCall[])[];
}

/** An offered tool in OpenAI shape, as chat templates want it. */
export function toolSchema(tool: OfferedTool): ToolSchema {
  return typeof tool === 'string' ? { type: 'function', function: { name: tool } } : tool;
}
