import {
  callOf,
  jsonEnd,
  type Marked,
  type OfferedTools,
  parsed,
  parsedRecord,
  type ToolCallFormat,
  takeMarked,
  type WrittenCall,
  type WrittenCalls,
} from './format.ts';

/** `<tool_call>{"name": …, "arguments": {…}}</tool_call>`: Hermes, Qwen 2.5, Qwen 3. */
export const hermes: ToolCallFormat = {
  mark: '<tool_call>',
  begin: /<tool_call>\s*\{/,
  read: (response, tools) => takeMarked(response, hermesCall, tools),
  write: (calls) => calls.map((call) => `<tool_call>\n${nameAndArguments(call)}\n</tool_call>`).join('\n'),
};

const hermesCall: Marked = {
  open: '<tool_call>',
  close: '</tool_call>',
  read: (inside) => callOf(parsed(inside)),
  isJson: true,
};

const PYTHON_TAG = '<|python_tag|>';

/** `{"name": …, "parameters": {…}}`, several separated by semicolons: Llama 3.1, 3.2 and 3.3. */
export const llama3: ToolCallFormat = {
  read(response, tools) {
    const tag = response.indexOf(PYTHON_TAG);
    const text = tag < 0 ? '' : response.slice(0, tag);
    const calls = jsonSequence(tag < 0 ? response : response.slice(tag + PYTHON_TAG.length));
    return allOffered(calls, tools) ? { text, calls } : { text: response, calls: [] };
  },
  write: (calls) =>
    calls.map(({ name, arguments: parameters }) => JSON.stringify({ name, parameters })).join('; '),
};

/** `[TOOL_CALLS][{"name": …, "arguments": {…}}]`, or from the eleventh tokenizer on `[TOOL_CALLS]name{…}`: Mistral. */
export const mistral: ToolCallFormat = {
  mark: '[TOOL_CALLS]',
  read(response, tools) {
    const [text = '', ...parts] = response.split('[TOOL_CALLS]');
    const calls = whole(parts.map(mistralCalls))?.flat();
    return allOffered(calls, tools) ? { text, calls } : { text: response, calls: [] };
  },
  write: (calls) =>
    calls.map((call) => `[TOOL_CALLS]${call.name}[ARGS]${JSON.stringify(call.arguments)}`).join(''),
};

function mistralCalls(part: string): readonly WrittenCall[] | undefined {
  const text = part.trim();
  if (text.startsWith('[')) {
    const list = parsed(text);
    return Array.isArray(list) ? whole(list.map(callOf)) : undefined;
  }
  const brace = text.indexOf('{');
  if (brace === 0) return jsonSequence(text);
  const args = brace < 0 ? undefined : parsedRecord(text.slice(brace));
  const name = text
    .slice(0, brace)
    .replace('[ARGS]', '')
    .replace(/\[CALL_ID\].*$/, '')
    .trim();
  return args === undefined || name === '' ? undefined : [{ name, arguments: args }];
}

/** `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>…<｜tool▁call▁end｜><｜tool▁calls▁end｜>`: DeepSeek V3 and R1, and V3.1 without a type. */
export const deepseek: ToolCallFormat = {
  mark: '<｜tool▁calls▁begin｜>',
  read: (response, tools) =>
    takeSection(
      response,
      { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' },
      { open: '<｜tool▁call▁begin｜>', close: '<｜tool▁call▁end｜>', read: deepseekCall },
      tools,
    ),
  write: (calls) =>
    `<｜tool▁calls▁begin｜>${calls
      .map(
        (call) =>
          `<｜tool▁call▁begin｜>${call.name}<｜tool▁sep｜>${JSON.stringify(call.arguments)}<｜tool▁call▁end｜>`,
      )
      .join('')}<｜tool▁calls▁end｜>`,
};

function deepseekCall(inside: string): WrittenCall | undefined {
  const separator = inside.indexOf('<｜tool▁sep｜>');
  if (separator < 0) return undefined;
  const type = inside.slice(0, separator).trim();
  const rest = inside.slice(separator + '<｜tool▁sep｜>'.length);
  const fence = rest.indexOf('\n```json\n');
  if (fence < 0) return withArguments(type, rest);
  const end = rest.lastIndexOf('\n```');
  return end <= fence ? undefined : withArguments(rest.slice(0, fence).trim(), rest.slice(fence + 9, end));
}

/** `<|tool_calls_section_begin|><|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>…`: Kimi K2. */
export const kimi: ToolCallFormat = {
  mark: '<|tool_calls_section_begin|>',
  read: (response, tools) =>
    takeSection(
      response,
      { open: '<|tool_calls_section_begin|>', close: '<|tool_calls_section_end|>' },
      { open: '<|tool_call_begin|>', close: '<|tool_call_end|>', read: kimiCall },
      tools,
    ),
  write: (calls) =>
    `<|tool_calls_section_begin|>${calls
      .map(
        (call, index) =>
          `<|tool_call_begin|>${call.id ?? `functions.${call.name}:${index}`}<|tool_call_argument_begin|>` +
          `${JSON.stringify(call.arguments)}<|tool_call_end|>`,
      )
      .join('')}<|tool_calls_section_end|>`,
};

function kimiCall(inside: string): WrittenCall | undefined {
  const [header = '', json, ...more] = inside.split('<|tool_call_argument_begin|>');
  const id = header.trim();
  const colon = id.lastIndexOf(':');
  if (json === undefined || more.length > 0 || colon < 0 || !/^\d+$/.test(id.slice(colon + 1)))
    return undefined;
  const call = withArguments(id.slice(0, id.indexOf(':')).replace(/^functions\./, ''), json);
  return call && { ...call, id };
}

/** A call of a tool with arguments as JSON text. Empty text means no arguments. */
function withArguments(name: string, json: string): WrittenCall | undefined {
  const args = json.trim() === '' ? {} : parsedRecord(json);
  return args === undefined || name === '' ? undefined : { name, arguments: args };
}

/** Calls written one after the other as JSON, or `undefined` if anything else stands there. */
function jsonSequence(text: string): readonly WrittenCall[] | undefined {
  const calls: WrittenCall[] = [];
  for (let at = skipGaps(text, 0); at < text.length; ) {
    const end = text[at] === '{' ? jsonEnd(text, at) : -1;
    const call = end < 0 ? undefined : callOf(parsed(text.slice(at, end)));
    if (call === undefined) return undefined;
    calls.push(call);
    at = skipGaps(text, end);
  }
  return calls;
}

function skipGaps(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s;,]/.test(text[at]!)) at += 1;
  return at;
}

/** Takes the calls out of the section that holds them all. A section with anything else in it stays as it is. */
function takeSection(
  response: string,
  { open, close }: { readonly open: string; readonly close: string },
  call: Marked,
  tools: OfferedTools,
): WrittenCalls {
  const start = response.indexOf(open);
  if (start < 0) return { text: response, calls: [] };
  const end = response.lastIndexOf(close);
  const inside = response.slice(start + open.length, end < start ? undefined : end);
  const { text, calls } = takeMarked(inside, call, tools);
  if (calls.length === 0 || text.trim() !== '') return { text: response, calls: [] };
  return { text: response.slice(0, start) + (end < start ? '' : response.slice(end + close.length)), calls };
}

/** Whether there are calls, all of tools that were offered. */
function allOffered(
  calls: readonly WrittenCall[] | undefined,
  tools: OfferedTools,
): calls is readonly WrittenCall[] {
  return calls !== undefined && calls.length > 0 && calls.every(({ name }) => tools.isOffered(name));
}

/** The list if it has no gap and is not empty. */
function whole<Item>(items: readonly (Item | undefined)[]): readonly Item[] | undefined {
  const present = items.filter((item): item is Item => item !== undefined);
  return present.length === items.length && items.length > 0 ? present : undefined;
}

function nameAndArguments({ name, arguments: args }: WrittenCall): string {
  return JSON.stringify({ name, arguments: args });
}
