import { type Completion, toolCallFormatNames, toolCallFormats } from '@rlp/core';
import { completionText } from '@rlp/models';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteChatTokenizer as tokenizer, weather } from '../served.fixture.ts';
import { AnswerText } from './answer-text.ts';

const promptTokens = tokenizer.encode('Weather?');
const end = tokenizer.eosIds[0]!;

/** The text of an answer as a client of a stream gets it, and as another client gets it at once. */
function bothWays(
  said: string,
  options: { tools?: readonly [typeof weather]; stopStrings?: readonly string[]; prefix?: string } = {},
) {
  const { stopStrings = [], prefix = '', tools } = options;
  const all = [...tokenizer.encode(said, { specialTokens: 'none' }), end];
  const text = completionText(all, { tokenizer, prompt: promptTokens, endTokens: [end], stopStrings });
  const completion: Completion = {
    ...{ tokens: all, text, behaviorLogprobs: all.map(() => -1), stopReason: 'stop', policyVersion: 0 },
  };
  const parts = () => new AnswerText({ tokenizer, promptTokens, stopStrings, stopTokens: [], tools, prefix });
  const streamed = parts();
  const pieces = all.map((token) => streamed.push(token));
  const ended = streamed.finish(completion);
  const whole = parts().finish(completion);
  return { pieces: [...pieces, ended.rest], ended, whole, text };
}

const calls = [{ name: 'weather', arguments: { city: 'Bern [x] {y}' } }];
const fragments = [
  ...[
    '<tool_call>',
    '</tool_call>',
    '<function=',
    '[TOOL_CALLS]',
    'to=functions.',
    '<|channel|>',
    '{',
    '[',
    '"',
  ],
  ...[' ', '\n', '<', 'a', 'ü', '🌞', 'weather', '(', ')'],
  ...toolCallFormatNames.map((name) => toolCallFormats[name].write(calls)),
];

describe('AnswerText', () => {
  it('streams what it gives at once, whatever the answer', () => {
    const said = fc.array(fc.constantFrom(...fragments), { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(said, fc.boolean(), fc.constantFrom([], ['a<'], ['🌞']), (text, offers, stopStrings) => {
        const { pieces, ended, whole } = bothWays(text, { ...(offers && { tools: [weather] }), stopStrings });
        expect(pieces.join('')).toBe(ended.text);
        expect(ended.text).toBe(whole.text);
        expect(ended.calls).toEqual(whole.calls);
        expect(pieces.join('|')).not.toContain('\uFFFD');
      }),
      { numRuns: 120 },
    );
  });

  it.each(toolCallFormatNames)('takes calls of %s out, and shows the text before them at once', (name) => {
    const hasMark = 'mark' in toolCallFormats[name];
    const before = hasMark ? 'Let me see. ' : '';
    const { pieces, ended } = bothWays(before + toolCallFormats[name].write(calls), { tools: [weather] });
    expect(ended.calls.map(({ function: called }) => JSON.parse(called.arguments))).toEqual([
      calls[0]!.arguments,
    ]);
    expect(ended.text).toBe(before.trimEnd());
    if (hasMark && name !== 'harmony')
      expect(pieces.filter((piece) => piece !== '').length).toBeGreaterThan(5);
  });

  it('shows everything at once if no tool is offered, calls included', () => {
    const said = toolCallFormats.hermes.write(calls);
    const { ended, pieces, text } = bothWays(said);
    expect([ended.text, ended.calls]).toEqual([text, []]);
    expect(pieces.at(-1)).toBe('');
  });

  it('reads a call that the prompt began, and keeps its beginning if it is none', () => {
    const prefix = '<tool_call>\n{"name":"weather';
    const options = { tools: [weather] as const, prefix };
    expect(bothWays('", "arguments": {"city": "Chur"}}</tool_call>', options).ended.calls).toHaveLength(1);
    const { ended } = bothWays('oops', options);
    expect([ended.text, ended.calls]).toEqual([`${prefix}oops`, []]);
  });
});
