import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolSchema } from '../tool-schema.ts';
import {
  parseToolCalls,
  type ToolCallFormatName,
  toolCallFormatNames,
  toolCallFormats,
} from './parse-tool-calls.ts';

interface Case {
  readonly format: ToolCallFormatName;
  readonly parser: string;
  readonly response: string;
  readonly isBroken: boolean;
  readonly content: string | null;
  readonly calls: readonly (readonly [name: string, json: string])[];
}

/** Made by lab/golden/tool_calls.py with the parsers of vLLM 0.32. */
const golden: { readonly tools: readonly ToolSchema[]; readonly cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL('../../fixtures/testdata/tool-calls.json', import.meta.url), 'utf8'),
);
const parsers = [...new Set(golden.cases.map(({ parser }) => parser))];

function found(response: string, format: ToolCallFormatName | 'any') {
  const { text, calls } = parseToolCalls(response, golden.tools, { format });
  return { text, calls: calls.map(({ function: { name, arguments: json } }) => [name, JSON.parse(json)]) };
}

/** What is read whatever the tools are called. */
function foundOfAny(text: string, format: ToolCallFormatName) {
  const { calls, ...rest } = parseToolCalls(text, undefined, { format });
  return { ...rest, calls: calls.map(({ function: it }) => [it.name, JSON.parse(it.arguments)]) };
}

const kimiSection = (call: string) =>
  `<|tool_calls_section_begin|><|tool_call_begin|>${call}<|tool_call_end|><|tool_calls_section_end|>`;

describe('the calls of a response', () => {
  it.each(parsers)('are those that vLLM finds with its parser %s', (parser) => {
    const cases = golden.cases.filter((each) => each.parser === parser && !each.isBroken);
    expect(cases.length).toBeGreaterThanOrEqual(45);
    for (const { format, response, content, calls } of cases) {
      const expected = {
        text: (content ?? '').trim(),
        calls: calls.map(([name, json]) => [name, JSON.parse(json)]),
      };
      expect(found(response, format), response).toEqual(expected);
      expect(found(response, 'any'), response).toEqual(expected);
    }
  });

  it.each(parsers)('are never invented from a damaged one: %s', (parser) => {
    for (const { format, response, calls } of golden.cases.filter(
      (each) => each.parser === parser && each.isBroken,
    )) {
      const theirs = calls.flatMap(([name, json]) => {
        try {
          return [JSON.stringify([name, JSON.parse(json)])];
        } catch {
          return []; // vLLM passes on what it could not read
        }
      });
      // vLLM's parser for Hermes drops all calls if one is damaged.
      if (parser === 'hermes' && calls.length === 0) continue;
      for (const call of found(response, format).calls)
        expect(theirs, response).toContain(JSON.stringify(call));
    }
  });

  it('are read back from what each format writes', () => {
    const name = fc
      .stringMatching(/^[a-z][a-z_]{0,8}$/)
      .filter((word) => !/^(?:none|true|false|null)$/i.test(word));
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 2 },
        fc.stringMatching(/^[^<>[\]{}|]{0,8}$/).map((text) => text.trim()),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    const call = fc.record({ name, arguments: fc.dictionary(name, value, { maxKeys: 3 }) });
    fc.assert(
      fc.property(
        fc.constantFrom(...toolCallFormatNames),
        fc.array(call, { minLength: 1, maxLength: 3 }),
        (format, calls) => {
          const text = toolCallFormats[format].write(calls);
          const isText = (tool: string, key: string) =>
            calls.some((it) => it.name === tool && typeof it.arguments[key] === 'string');
          const isMixed = calls.some((one) =>
            calls.some((other) => other.name === one.name && other !== one),
          );
          fc.pre(!isMixed);
          const read = toolCallFormats[format].read(text, { isOffered: () => true, isText });
          expect(
            read.calls.map((it) => [it.name, it.arguments]),
            text,
          ).toEqual(calls.map((it) => [it.name, JSON.parse(JSON.stringify(it.arguments))]));
        },
      ),
      { numRuns: 600 },
    );
  });

  it('are read from harmony, whose final message is the text', () => {
    const response =
      '<|channel|>analysis<|message|>I should look.<|end|><|start|>assistant<|channel|>commentary<|message|>One moment.<|end|>' +
      '<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city":"Bern"}<|call|>';
    expect(found(response, 'any')).toEqual({ text: 'One moment.', calls: [['weather', { city: 'Bern' }]] });
    const early = '<|start|>assistant to=functions.clock<|channel|>commentary json<|message|>{}';
    expect(found(early, 'any').calls).toEqual([['clock', {}]]);
  });

  it('of Python have dotted names with parts of any length', () => {
    const text = '[a(), math.add(), a.b_1.c()]';
    expect(foundOfAny(text, 'pythonic').calls.map(([name]) => name)).toEqual(['a', 'math.add', 'a.b_1.c']);
  });

  it('keep the ids that Kimi gives them', () => {
    const text = toolCallFormats.kimi.write([{ name: 'clock', arguments: {} }]);
    expect(parseToolCalls(text).calls[0]?.id).toBe('functions.clock:0');
    const divided = kimiSection('functions.clock:utc:1<|tool_call_argument_begin|>{}');
    expect(parseToolCalls(divided).calls).toMatchObject([
      { id: 'functions.clock:utc:1', function: { name: 'clock' } },
    ]);
  });

  it.each([
    ['[f(a=(1, 2), b={1, 2}, c={})]', { a: [1, 2], b: [1, 2], c: {} }],
    ['[f(a=\'it\'\'s\', b="""two\nlines""")]', { a: 'its', b: 'two\nlines' }],
    ["[f(a='\\n\\x41\\u00e9\\U0001f600\\q')]", { a: '\nAé😀\\q' }],
    [
      '[f(a=-1.5e3, b=.5, c=1_000, d=None, e=True, f=false)]',
      { a: -1500, b: 0.5, c: 1000, d: null, e: true, f: false },
    ],
    ['<|python_start|>[f(a=1,)]<|python_end|>', { a: 1 }],
    [`[f(a=${'['.repeat(97)}${']'.repeat(97)})]`, expect.anything()],
    ['[f(a=.5e3, b=.5e-1, c=-.25E+2)]', { a: 500, b: 0.05, c: -25 }],
  ])('are read from Python literals: %s', (text, args) => {
    expect(foundOfAny(text, 'pythonic').calls).toEqual([['f', args]]);
  });

  it.each([
    '[f(a=open)]',
    '[f(a=1, 2)]',
    '[f(a={1: 2, 3})]',
    "[f(a='open)]",
    "[f(a='\\x4')]",
    "[f(a='\\U00110000')]",
    '[f(a=1e999)]',
    '[f(a=1)] and more',
    '[f]',
    '[]',
    `[f(a=${'['.repeat(99)}${']'.repeat(99)})]`,
  ])('are not read from what is not a list of Python calls: %s', (text) => {
    expect(foundOfAny(text, 'pythonic')).toEqual({ text, calls: [] });
  });

  it.each([
    ['glm', '<tool_call>f<arg_key>a</arg_key></tool_call>'],
    ['glm', '<tool_call>f<arg_key>a</arg_key>1</tool_call>'],
    ['glm', '<tool_call>f<arg_key>a</arg_key><arg_value>1</tool_call>'],
    ['glm', '<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></arg_key></tool_call>'],
    ['glm', '<tool_call>f g<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>'],
    ['qwenXml', '<function=f><parameter=a</parameter></function>'],
    ['qwenXml', '<function=f><parameter=a>1</function>'],
    ['qwenXml', '<function=f g></function>'],
    ['harmony', '<|channel|>commentary to=functions.f<|message|>[1]<|call|>'],
    ['mistral', '[TOOL_CALLS]'],
    ['mistral', '[TOOL_CALLS]f'],
    ['mistral', '[TOOL_CALLS][{"name": "f"}, 1]'],
    ['deepseek', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁call▁end｜><｜tool▁calls▁end｜>'],
    [
      'deepseek',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜><｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    [
      'deepseek',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
    ['kimi', kimiSection('functions.f:x<|tool_call_argument_begin|>{}')],
    ['kimi', kimiSection('functions.f:1x<|tool_call_argument_begin|>{}')],
    ['kimi', kimiSection('functions.f<|tool_call_argument_begin|>{}')],
    ['kimi', kimiSection('functions.f:0')],
    ['llama3', '{"name": "f", "parameters": {}} and more'],
  ] as const)('leave what is broken in the text: %s %s', (format, text) => {
    expect(foundOfAny(text, format)).toEqual({ text, calls: [] });
  });

  it('without marks are calls only if the whole response is calls of tools that were offered', () => {
    const plain = ['{"name": "clock", "parameters": {}}', '[clock()]'];
    for (const text of plain) {
      expect(parseToolCalls(text, golden.tools).calls).toHaveLength(1);
      expect(parseToolCalls(text).calls).toEqual([]);
      expect(parseToolCalls(`So: ${text}`, golden.tools).calls).toEqual([]);
      expect(parseToolCalls(text.replace('clock', 'door'), golden.tools).calls).toEqual([]);
    }
  });

  it.each(toolCallFormatNames)('in %s are not taken from the arguments of a call', (format) => {
    const call = { name: 'weather', arguments: { city: 'Bern' } };
    // GLM writes text as it is, between the marks of these two.
    const unclear = new Set<string>(format === 'glm' ? ['hermes', 'qwenXml', 'glm'] : [format]);
    for (const other of toolCallFormatNames.filter((name) => !unclear.has(name))) {
      const city = toolCallFormats[other].write([{ name: 'clock', arguments: {} }]);
      const text = toolCallFormats[format].write([{ ...call, arguments: { city } }]);
      const names = parseToolCalls(text, golden.tools, { unknown: 'call' }).calls.map(
        (it) => it.function.name,
      );
      expect(names, text).not.toContain('clock');
    }
    const own = toolCallFormats[format].write([{ name: 'clock', arguments: {} }]);
    const within = toolCallFormats[format].write([{ ...call, arguments: { city: own } }]);
    expect(found(within, format).calls.map(([name]) => name)).not.toContain('clock');
  });

  it('are text if one of several names a tool that does not exist', () => {
    const text = '[TOOL_CALLS][{"name": "clock", "arguments": {}}, {"name": "door", "arguments": {}}]';
    expect(found(text, 'mistral')).toEqual({ text, calls: [] });
  });

  it('leave what follows their section in the text', () => {
    const section = kimiSection('functions.f:0<|tool_call_argument_begin|>{}');
    expect(foundOfAny(`One. ${section} Two.`, 'kimi')).toEqual({ text: 'One.  Two.', calls: [['f', {}]] });
  });

  it.each([
    ['qwenXml', '<function=f><parameter=a>"x"</parameter></function>'],
    ['glm', '<tool_call>f<arg_key>a</arg_key><arg_value>"x"</arg_value></tool_call>'],
  ] as const)('in %s keep the quotes of an argument that is text', (format, text) => {
    expect(foundOfAny(text, format).calls).toEqual([['f', { a: '"x"' }]]);
  });

  it('of harmony may have no arguments', () => {
    const text = '<|channel|>commentary to=functions.f<|message|><|call|>';
    expect(foundOfAny(text, 'harmony').calls).toEqual([['f', {}]]);
  });

  it('may carry an id between name and arguments', () => {
    const text = '[TOOL_CALLS]f[CALL_ID]a1b2c3d4e[ARGS]{"a": 1}';
    expect(foundOfAny(text, 'mistral').calls).toEqual([['f', { a: 1 }]]);
  });

  it('of tools that do not exist can be told apart from text', () => {
    const text = '<tool_call>{"name": "door", "arguments": {}}</tool_call>';
    expect(parseToolCalls(text, golden.tools).calls).toEqual([]);
    expect(parseToolCalls(text, golden.tools, { unknown: 'call' }).calls).toHaveLength(1);
  });

  it.each(toolCallFormatNames)('are looked for in time linear in the text: %s', (format) => {
    const [mark] = toolCallFormats[format].write([{ name: 'f', arguments: {} }]).split('f');
    for (const piece of [
      mark!,
      `${mark}{`,
      `${mark}${' '.repeat(9)}`,
      '<function=',
      '[f(a=[',
      '{"name":',
      '[',
      "f(a='",
      '<arg_key>',
      '<parameter=',
      '<|start|>to=functions.a',
    ]) {
      // Four times the text may take four times as long, where quadratic time is sixteen times as long.
      const [short, long] = [15_000, 60_000].map((count) => {
        const text = piece.repeat(count);
        const begun = process.cpuUsage();
        parseToolCalls(text, golden.tools, { format });
        return process.cpuUsage(begun).user / 1000;
      });
      expect(long, piece).toBeLessThan(8 * short! + 300);
    }
  });
});
