import type { ToolCall } from '@rlp/core';

/** A function that a model may call, in OpenAI shape. A plain name offers it without description. */
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
