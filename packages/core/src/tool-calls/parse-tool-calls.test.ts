import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseToolCalls } from './parse-tool-calls.ts';

const offered = new Set(['calculator', 'search']);
const sum = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "2+2"}}\n</tool_call>';

describe('parseToolCalls', () => {
  it('takes calls out of the text, in order', () => {
    const look = '<tool_call>{"name": "search"}</tool_call>';
    expect(parseToolCalls(`Let me <tool_call> see. ${sum}\n${look}`, offered)).toEqual({
      text: 'Let me <tool_call> see.',
      calls: [
        {
          id: 'call_0',
          type: 'function',
          function: { name: 'calculator', arguments: '{"expression":"2+2"}' },
        },
        { id: 'call_1', type: 'function', function: { name: 'search', arguments: '{}' } },
      ],
    });
  });

  it.each([
    '<tool_call>{"name": "calculator", "arguments": </tool_call>',
    '<tool_call>{"arguments": {}}</tool_call>',
    '<tool_call>{"name": "shell", "arguments": {}}</tool_call>',
    '</tool_call> and no call <tool_call>',
    ' no call at all ',
  ])('leaves what is no call of an offered tool in the text: %s', (text) => {
    expect(parseToolCalls(text, offered)).toEqual({ text, calls: [] });
  });

  it('loses no argument, whatever its name', () => {
    const text = '<tool_call>{"name":"search","arguments":{"__proto__":[1]}}</tool_call>';
    expect(parseToolCalls(text).calls[0]?.function.arguments).toBe('{"__proto__":[1]}');
  });

  it('reads back what a template writes, and loses no other text', () => {
    const plain = fc.string().map((text) => text.replaceAll('<', ''));
    const mark = fc.constantFrom('<tool_call>', 'see <tool_call>{', '</tool_call>', '"</tool_call>\\');
    const value = fc.oneof(fc.jsonValue(), mark);
    const call = fc.record({ name: fc.string(), arguments: fc.dictionary(fc.string(), value) });
    fc.assert(
      fc.property(fc.array(fc.tuple(plain, call)), plain, (parts, last) => {
        const written = parts.map(([before, it]) => `${before}<tool_call>${JSON.stringify(it)}</tool_call>`);
        const { text, calls } = parseToolCalls(written.join('') + last);
        const said = parts.map(([before]) => before).join('') + last;
        expect(text).toBe(parts.length > 0 ? said.trim() : said);
        expect(calls.map(({ function: { name, arguments: json } }) => [name, json])).toEqual(
          parts.map(([, it]) => [it.name, JSON.stringify(JSON.parse(JSON.stringify(it.arguments)))]),
        );
      }),
    );
  });

  it('reads a call that begins again after it broke off', () => {
    const { text, calls } = parseToolCalls(`<tool_call>{"name": "search", "arguments": ${sum}`, offered);
    expect(text).toBe('<tool_call>{"name": "search", "arguments":');
    expect(calls.map(({ function: { name } }) => name)).toEqual(['calculator']);
  });

  it('takes as long as the text is', () => {
    const text = `<tool_call>{${'<tool_call>{'.repeat(200_000)}${'}'.repeat(200_000)}`;
    const begun = performance.now();
    expect(parseToolCalls(text + text).calls).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(500);
  });
});
