import { isRecord } from '../is-record.ts';
import type { ToolCall } from '../message.ts';
import { requireArguments } from '../options/require-arguments.ts';
import type { ToolSchema } from '../tool-schema.ts';
import type { OfferedTools, ToolCallFormat, WrittenCall } from './format.ts';
import { deepseek, hermes, kimi, llama3, mistral } from './json-formats.ts';
import { glm, harmony, qwenXml } from './markup-formats.ts';
import { pythonic } from './pythonic.ts';

/**
 * The ways in which models write calls of tools, by name. `read` takes calls out of a response, `write` is its inverse.
 *
 * - `hermes`: `<tool_call>{"name": …, "arguments": {…}}</tool_call>` (Hermes, Qwen 2.5 and 3)
 * - `glm`: `<tool_call>name<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>` (GLM 4.5 and later)
 * - `qwenXml`: `<function=name><parameter=key>…</parameter></function>` (Qwen3 Coder, Qwen 3.5)
 * - `mistral`: `[TOOL_CALLS][{…}]` and `[TOOL_CALLS]name{…}`
 * - `deepseek`: `<｜tool▁calls▁begin｜>…` (V3, R1, V3.1)
 * - `kimi`: `<|tool_calls_section_begin|>…` (K2)
 * - `harmony`: `<|channel|>commentary to=functions.name …` (gpt-oss)
 * - `llama3`: `{"name": …, "parameters": {…}}` (Llama 3.1 to 3.3)
 * - `pythonic`: `[name(key='value')]` (Llama 3.2 and 4, ToolACE, OLMo 3)
 */
export const toolCallFormats = {
  qwenXml,
  hermes,
  glm,
  mistral,
  deepseek,
  kimi,
  harmony,
  llama3,
  pythonic,
} as const satisfies Readonly<Record<string, ToolCallFormat>>;

/** Name of a way to write calls. */
export type ToolCallFormatName = keyof typeof toolCallFormats;

/** Names of {@link toolCallFormats}. */
export const toolCallFormatNames = Object.keys(toolCallFormats) as readonly ToolCallFormatName[];

/** A response taken apart. */
export interface ParsedToolCalls {
  /** The text without its calls, white space around it removed if there were any. */
  readonly text: string;
  /** The calls in order, with the ids `call_0`… if the format has none. */
  readonly calls: readonly ToolCall[];
}

/** How {@link parseToolCalls} reads. */
export interface ToolCallReading {
  /**
   * How calls are written. Default `'any'`: the format whose marks stand in the text. Calls without marks (`llama3`, `pythonic`) are
   * then found only if tools are offered and the whole text is calls of them.
   */
  readonly format?: ToolCallFormatName | 'any' | undefined;
  /** A marked call of a tool that was not offered is `'text'`, or still a `'call'`, to tell the policy. Default `'text'`. */
  readonly unknown?: 'text' | 'call' | undefined;
}

/**
 * Takes calls of tools out of a policy's text. What is malformed, or calls a tool that was not offered, stays part of the text.
 *
 * In linear time, whatever the text.
 *
 * @param offered - The tools there are, or their names. Default: any name is one.
 */
export function parseToolCalls(
  text: string,
  offered?: ReadonlySet<string> | readonly ToolSchema[],
  options: ToolCallReading = {},
): ParsedToolCalls {
  requireArguments('parseToolCalls', { text: 'text', options: 'object?' }, text, options);
  const { format = 'any', unknown = 'text' } = options;
  const tools = offeredTools(offered);
  for (const candidate of candidates(text, format, offered !== undefined)) {
    const isMarked = unknown === 'call' && candidate.mark !== undefined;
    const { text: rest, calls } = candidate.read(
      text,
      isMarked ? { ...tools, isOffered: () => true } : tools,
    );
    if (calls.length > 0) return { text: rest.trim(), calls: calls.map(toolCall) };
  }
  return { text, calls: [] };
}

/**
 * Formats to try: those whose calls are the whole text, then the one whose mark stands first. Later marks may be in the arguments of a call.
 */
function candidates(
  text: string,
  format: ToolCallFormatName | 'any',
  areOffered: boolean,
): readonly ToolCallFormat[] {
  if (format !== 'any') return [toolCallFormats[format]];
  const all = Object.values<ToolCallFormat>(toolCallFormats);
  const placeOf = ({ mark, begin }: ToolCallFormat) =>
    mark === undefined || !text.includes(mark)
      ? -1
      : begin === undefined
        ? text.indexOf(mark)
        : text.search(begin);
  const marked = all.map((each) => ({ each, at: placeOf(each) }));
  return [
    ...all.filter(({ mark }) => mark === undefined && areOffered),
    ...marked
      .filter(({ at }) => at >= 0)
      .toSorted((p, q) => p.at - q.at)
      .map(({ each }) => each),
  ];
}

function offeredTools(offered: ReadonlySet<string> | readonly ToolSchema[] | undefined): OfferedTools {
  if (offered === undefined) return { isOffered: () => true, isText: () => false };
  if ('has' in offered) return { isOffered: (name) => offered.has(name), isText: () => false };
  const functions = new Map(offered.map((tool) => [tool.function.name, tool.function]));
  return {
    isOffered: (name) => functions.has(name),
    isText: (name, parameter) => {
      const properties = functions.get(name)?.parameters?.properties;
      const schema = isRecord(properties) ? properties[parameter] : undefined;
      return isRecord(schema) && schema.type === 'string';
    },
  };
}

function toolCall({ name, arguments: args, id }: WrittenCall, index: number): ToolCall {
  return { id: id ?? `call_${index}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}
