import * as z from 'zod';
import { isRecord } from './is-record.ts';
import type { ToolCall } from './message.ts';

const opening = '<tool_call>';
const closing = '</tool_call>';

/** Arguments are taken as they are, because a `z.record` would leave out a `__proto__`. */
const callSchema = z.object({
  name: z.string(),
  arguments: z.custom<Readonly<Record<string, unknown>>>(isRecord).default({}),
});

/**
 * Takes calls out of a policy's text, written as `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, the form of the Hermes and Qwen
 * chat templates. What is not JSON of that form, or calls a tool that was not offered, stays part of the text.
 *
 * In linear time, whatever the text.
 *
 * @param offered - Names of the tools there are. Default: any name is one.
 * @returns The text without its calls, white space around it removed where there were any; calls in order, with the ids `call_0`…
 */
export function parseToolCalls(
  text: string,
  offered?: ReadonlySet<string>,
): { readonly text: string; readonly calls: readonly ToolCall[] } {
  const calls: ToolCall[] = [];
  let rest = '';
  let from = 0;
  for (let end = text.indexOf(closing); end >= 0; end = text.indexOf(closing, from)) {
    const segment = text.slice(from, end);
    const start = segment.lastIndexOf(opening);
    const call = start < 0 ? undefined : parseCall(segment.slice(start + opening.length));
    from = end + closing.length;
    if (call === undefined || offered?.has(call.name) === false) {
      rest += segment + closing;
      continue;
    }
    rest += segment.slice(0, start);
    const wire = { name: call.name, arguments: JSON.stringify(call.arguments) };
    calls.push({ id: `call_${calls.length}`, type: 'function', function: wire });
  }
  rest += text.slice(from);
  return { text: calls.length > 0 ? rest.trim() : rest, calls };
}

function parseCall(json: string): z.output<typeof callSchema> | undefined {
  try {
    return callSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}
