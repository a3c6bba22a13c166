import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3ToolResultPart,
  SharedV3Warning,
} from '@ai-sdk/provider';
import { ArgumentError, type Message, type ToolCall, type ToolSchema } from '@rlp/core';
import type { AnswerRequest, ToolChoice } from '../answer/request.ts';

/** A call of the AI SDK as a request, and what of it cannot be done. */
export interface ReadCall {
  readonly request: AnswerRequest;
  readonly warnings: SharedV3Warning[];
}

/** @throws ArgumentError for files in the prompt and tools that a provider would run. */
export function readCall(options: LanguageModelV3CallOptions, modelId: string): ReadCall {
  const { prompt, tools = [], toolChoice, maxOutputTokens, temperature, topP, topK, stopSequences } = options;
  const sampling = { maxTokens: maxOutputTokens, temperature, topP, topK, stopStrings: stopSequences };
  const given = Object.entries(sampling).filter(([, value]) => value !== undefined);
  return {
    request: {
      model: modelId,
      prompt: {
        messages: prompt.flatMap(readMessage),
        ...(tools.length > 0 && { tools: tools.map(readTool) }),
        ...(toolChoice && { toolChoice: readChoice(toolChoice) }),
      },
      sampling: Object.fromEntries(given),
      ...(options.seed !== undefined && { seed: String(options.seed) }),
    },
    warnings: warningsOf(options),
  };
}

function warningsOf(options: LanguageModelV3CallOptions): SharedV3Warning[] {
  const { presencePenalty, frequencyPenalty, responseFormat } = options;
  const unsupported: Record<string, boolean> = {
    presencePenalty: presencePenalty !== undefined && presencePenalty !== 0,
    frequencyPenalty: frequencyPenalty !== undefined && frequencyPenalty !== 0,
    responseFormat: responseFormat !== undefined && responseFormat.type !== 'text',
  };
  return Object.keys(unsupported)
    .filter((feature) => unsupported[feature])
    .map((feature) => ({ type: 'unsupported', feature }));
}

function readTool(tool: NonNullable<LanguageModelV3CallOptions['tools']>[number]): ToolSchema {
  if (tool.type !== 'function') {
    throw new ArgumentError(`rlpProvider: expected tools that run here, got "${tool.id}" of a provider`);
  }
  const { name, description, inputSchema } = tool;
  const parameters = inputSchema as Record<string, unknown>;
  return {
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters },
  };
}

function readChoice(choice: NonNullable<LanguageModelV3CallOptions['toolChoice']>): ToolChoice {
  return choice.type === 'tool' ? { name: choice.toolName } : choice.type;
}

function readMessage(message: LanguageModelV3Message): Message[] {
  if (message.role === 'system') return [{ role: 'system', content: message.content }];
  if (message.role === 'tool') {
    return message.content.flatMap((part) => (part.type === 'tool-result' ? [readResult(part)] : []));
  }
  const content = message.content.map((part) => {
    if (part.type === 'file') {
      throw new ArgumentError(`rlpProvider: expected text, got a file of type ${part.mediaType}`);
    }
    return part.type === 'text' ? part.text : '';
  });
  const calls = message.content.flatMap((part): ToolCall[] => {
    if (part.type !== 'tool-call') return [];
    const given = typeof part.input === 'string' ? part.input : JSON.stringify(part.input);
    return [{ id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: given } }];
  });
  const { role } = message;
  return [{ role, content: content.join(''), ...(calls.length > 0 && { tool_calls: calls }) }];
}

function readResult({ toolCallId, output }: LanguageModelV3ToolResultPart): Message {
  return { role: 'tool', content: resultText(output), tool_call_id: toolCallId };
}

function resultText(output: LanguageModelV3ToolResultPart['output']): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return output.reason ?? 'Tool execution denied.';
    default:
      return JSON.stringify(output.value);
  }
}
