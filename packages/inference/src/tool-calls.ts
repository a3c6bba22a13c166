import type { ToolCall, ToolSchema } from '@rlp/core';

/** A function that a model may call. A plain name offers it without description. */
export type OfferedTool = string | ToolSchema;

/** Result of {@link InferenceModule.batchGenerateWithTools}, prompt by prompt. */
export interface ToolResponses {
  /** Texts without their calls. */
  readonly responses: readonly string[];
  /** The calls each response makes, in order. */
  readonly toolCalls: readonly (readonly ToolCall[])[];
}

/** An offered tool in the shape of OpenAI, which chat templates expect. */
export function toolSchema(tool: OfferedTool): ToolSchema {
  return typeof tool === 'string' ? { type: 'function', function: { name: tool } } : tool;
}
