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

  it('keep the ids that Kimi gives them', () => {
    const text = toolCallFormats.kimi.write([{ name: 'clock', arguments: {} }]);
    expect(parseToolCalls(text).calls[0]?.id).toBe('functions.clock:0');
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

  it('of tools that do not exist can be told apart from text', () => {
    const text = '<tool_call>{"name": "door", "arguments": {}}</tool_call>';
    expect(parseToolCalls(text, golden.tools).calls).toEqual([]);
    expect(parseToolCalls(text, golden.tools, { unknown: 'call' }).calls).toHaveLength(1);
  });

  it.each(toolCallFormatNames)('are looked for in time linear in the text: %s', (format) => {
    const { mark = '[f(a=[' } = toolCallFormats[format];
    for (const piece of [
      mark,
      `${mark}{`,
      '{"name":',
      '[',
      "f(a='",
      '<arg_key>',
      '<parameter=',
      '<|start|>to=functions.a',
    ]) {
      // Time of the processor: that of the clock also counts what else runs on the machine.
      const begun = process.cpuUsage();
      parseToolCalls(piece.repeat(60_000), golden.tools, { format });
      expect(process.cpuUsage(begun).user / 1000, piece).toBeLessThan(1500);
    }
  });
});
