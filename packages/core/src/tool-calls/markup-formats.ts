import {
  type OfferedTools,
  parsed,
  parsedRecord,
  type ToolCallFormat,
  takeMarked,
  type WrittenCall,
} from './format.ts';

/** `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`: GLM 4.5 and later. */
export const glm: ToolCallFormat = {
  mark: '<tool_call>',
  begin: /<tool_call>\s*[\w.-]/,
  read: (response, tools) => {
    const read = (inside: string) => glmCall(inside, tools);
    const begun = /^\s*[\w.-]+\s*<arg_key>/;
    return takeMarked(response, { open: '<tool_call>', close: '</tool_call>', read, begun }, tools);
  },
  write: (calls) =>
    calls
      .map(({ name, arguments: args }) => {
        const pairs = Object.entries(args).map(
          ([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${written(value)}</arg_value>\n`,
        );
        return `<tool_call>${name}\n${pairs.join('')}</tool_call>`;
      })
      .join('\n'),
};

function glmCall(inside: string, tools: OfferedTools): WrittenCall | undefined {
  const [head = '', ...pairs] = inside.split('<arg_key>');
  const name = head.trim();
  const entries = pairs.map((pair): [string, unknown] | undefined => {
    const [key = '', rest, ...more] = pair.split('</arg_key>');
    const value = rest?.trim();
    if (value === undefined || more.length > 0 || !value.startsWith('<arg_value>')) return undefined;
    const end = value.indexOf('</arg_value>');
    const text = value.slice('<arg_value>'.length, end);
    return end < 0 ? undefined : [key.trim(), tools.isText(name, key.trim()) ? text : unquoted(text)];
  });
  if (!/^[\w.-]+$/.test(name) || entries.includes(undefined)) return undefined;
  return { name, arguments: Object.fromEntries(entries as [string, unknown][]) };
}

/** `<tool_call><function=name><parameter=key>value</parameter></function></tool_call>`: Qwen3 Coder, Qwen 3.5. */
export const qwenXml: ToolCallFormat = {
  mark: '<function=',
  begin: /(?:<tool_call>\s*)?<function=/,
  read: (response, tools) => {
    const read = (inside: string) => qwenCall(inside, tools);
    const begun = /^[\w.-]+>\s*<parameter=/;
    const inner = takeMarked(response, { open: '<function=', close: '</function>', read, begun }, tools);
    const text =
      inner.calls.length === 0 ? response : inner.text.replaceAll(/<tool_call>\s*(?:<\/tool_call>|$)/g, '');
    return { text, calls: inner.calls };
  },
  write: (calls) =>
    calls
      .map(({ name, arguments: args }) => {
        const pairs = Object.entries(args).map(
          ([key, value]) => `<parameter=${key}>\n${written(value)}\n</parameter>\n`,
        );
        return `<tool_call>\n<function=${name}>\n${pairs.join('')}</function>\n</tool_call>`;
      })
      .join('\n'),
};

function qwenCall(inside: string, tools: OfferedTools): WrittenCall | undefined {
  const [head = '', ...pairs] = inside.split('<parameter=');
  const name = head.trim().replace(/>$/, '');
  const entries = pairs.map((pair): [string, unknown] | undefined => {
    const open = pair.indexOf('>');
    const close = pair.indexOf('</parameter>');
    if (open < 0 || close < open) return undefined;
    const key = pair.slice(0, open);
    const value = pair
      .slice(open + 1, close)
      .replace(/^\n/, '')
      .replace(/\n$/, '');
    return [key, tools.isText(name, key) ? value : unquoted(value)];
  });
  if (!/^[\w.-]+$/.test(name) || entries.includes(undefined)) return undefined;
  return { name, arguments: Object.fromEntries(entries as [string, unknown][]) };
}

/** Values are text. What reads as JSON of another kind is that value: see {@link WrittenCall}. */
function unquoted(text: string): unknown {
  const value = parsed(text);
  return value === undefined || typeof value === 'string' ? text : value;
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`: the harmony format of gpt-oss. */
export const harmony: ToolCallFormat = {
  mark: 'to=functions.',
  begin: /<\|channel\|>|to=functions\./,
  read(response, tools) {
    const calls: WrittenCall[] = [];
    const spoken: string[] = [];
    for (const part of response.split(/<\|start\|>|<\|end\|>|<\|call\|>|<\|return\|>/)) {
      const at = part.indexOf('<|message|>');
      const header = at < 0 ? '' : part.slice(0, at);
      const body = at < 0 ? part : part.slice(at + '<|message|>'.length);
      const name = /\bto=functions\.([\w.-]+)/.exec(header)?.[1];
      const args = name === undefined ? undefined : parsedRecord(body.trim() || '{}');
      if (name !== undefined && (args === undefined || !tools.isOffered(name)))
        return { text: response, calls: [] };
      if (name !== undefined && args !== undefined) calls.push({ name, arguments: args });
      else if (!header.includes('analysis')) spoken.push(body);
    }
    return calls.length === 0 ? { text: response, calls } : { text: spoken.join(''), calls };
  },
  write: (calls) =>
    calls
      .map(
        ({ name, arguments: args }) =>
          `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${JSON.stringify(args)}<|call|>`,
      )
      .join('<|start|>assistant'),
};
