import { isRecord } from '../is-record.ts';
import { jsonText } from './recorded-call.ts';

/** A part of a message, by what it is in a conversation. */
export type RecordedPart =
  | { readonly kind: 'text'; readonly text: string }
  /** A call. With what the tool gave, if the part has both. */
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly id: unknown;
      readonly given: unknown;
      readonly gave?: unknown;
    }
  /** What a tool gave: text, or a list of parts. */
  | { readonly kind: 'result'; readonly id: unknown; readonly gave: unknown }
  /** Begins another step of an agent. */
  | { readonly kind: 'step' }
  /** Reasoning, sources, approvals and data of a user interface, which are no part of what was said. */
  | { readonly kind: 'aside' }
  /** Images and the like. */
  | { readonly kind: 'other' };

type Part = Readonly<Record<string, unknown>>;

/** Anthropic's APIs, the AI SDK, its user interface and OpenTelemetry write each in their own way. */
const readers: Readonly<Record<string, (part: Part) => RecordedPart>> = {
  text: textPart,
  input_text: textPart,
  output_text: textPart,
  refusal: ({ refusal }) => (typeof refusal === 'string' ? { kind: 'text', text: refusal } : other),
  'tool-call': ({ toolCallId, toolName, input, args }) => call(toolName, toolCallId, input ?? args),
  'tool-result': ({ toolCallId, output, result }) => ({
    ...{
      kind: 'result',
      id: toolCallId,
      gave: output === undefined ? jsonText(result ?? '') : typedOutput(output),
    },
  }),
  'dynamic-tool': (part) => shownCall(part, part.toolName),
  'tool-invocation': ({ toolInvocation }) => (isRecord(toolInvocation) ? invocation(toolInvocation) : other),
  'step-start': () => ({ kind: 'step' }),
  tool_use: ({ name, id, input }) => call(name, id, input),
  server_tool_use: ({ name, id, input }) => call(name, id, input),
  mcp_tool_use: ({ name, id, input }) => call(name, id, input),
  tool_result: ({ tool_use_id: id, content }) => ({ kind: 'result', id, gave: textOrParts(content) }),
  mcp_tool_result: ({ tool_use_id: id, content }) => ({ kind: 'result', id, gave: textOrParts(content) }),
  tool_call: ({ name, id, arguments: given }) => call(name, id, given),
  tool_call_response: ({ id, response, result }) => ({
    ...{ kind: 'result', id, gave: jsonText(response ?? result ?? '') },
  }),
};

const other: RecordedPart = { kind: 'other' };
const asides =
  /^(?:(?:redacted[-_])?(?:reasoning|thinking)|source(?:-url|-document)?|data-[\w-]+|tool-approval-(?:request|response))$/;
const denied = 'Tool execution denied.';

/** What a part of a recorded message is. */
export function recordedPart(part: unknown): RecordedPart {
  if (!isRecord(part)) return other;
  const type = part.type ?? 'text';
  if (typeof type !== 'string') return other;
  // The user interface of the AI SDK names the tool in the type.
  if (type.startsWith('tool-') && typeof part.state === 'string') return shownCall(part, type.slice(5));
  if (Object.hasOwn(readers, type)) return readers[type]!(part);
  if (asides.test(type)) return { kind: 'aside' };
  // Results of tools that Anthropic runs, such as web_search_tool_result.
  const { tool_use_id: id, content } = part;
  return type.endsWith('_tool_result') ? { kind: 'result', id, gave: jsonText(content ?? '') } : other;
}

function textPart({ text, content }: Part): RecordedPart {
  const said = text ?? content;
  return typeof said === 'string' ? { kind: 'text', text: said } : other;
}

function call(name: unknown, id: unknown, given: unknown): RecordedPart {
  return typeof name === 'string' ? { kind: 'call', name, id, given } : other;
}

/** A call as a user interface shows it, with what came of it so far. */
function shownCall(part: Part, name: unknown): RecordedPart {
  const { toolCallId, state, input, rawInput, output, errorText } = part;
  const made = call(name, toolCallId, input ?? rawInput);
  if (state === 'output-available') return { ...made, ...{ gave: jsonText(output ?? '') } };
  if (state === 'output-error') return { ...made, ...{ gave: jsonText(errorText ?? '') } };
  return state === 'output-denied' ? { ...made, ...{ gave: denied } } : made;
}

/** The same in version 4. */
function invocation({ toolName, toolCallId, args, state, result }: Part): RecordedPart {
  const made = call(toolName, toolCallId, args);
  return state === 'result' ? { ...made, ...{ gave: jsonText(result ?? '') } } : made;
}

function textOrParts(content: unknown): unknown {
  return Array.isArray(content) ? content : jsonText(content ?? '');
}

/** An output says its type since version 5 of the AI SDK. A value of the tool's own may have the same fields, so others stay whole. */
function typedOutput(output: unknown): unknown {
  if (!isRecord(output)) return jsonText(output ?? '');
  const { type, value, reason } = output;
  if (type === 'execution-denied') return jsonText(reason ?? denied);
  if (type === 'content') return textOrParts(value);
  return /^(?:error-)?(?:text|json)$/.test(String(type)) && 'value' in output
    ? jsonText(value)
    : jsonText(output);
}
