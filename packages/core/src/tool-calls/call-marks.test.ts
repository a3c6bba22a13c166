import { expect, it } from 'vitest';
import type { Tokenizer } from '../tokenizer.ts';
import type { ToolSchema } from '../tool-schema.ts';
import { isSilentToken, withCallMarks } from './call-marks.ts';

const [end, mark, other] = [1, 2, 3];
const special = new Map([
  [end, '</s>'],
  [mark, '[TOOL_CALLS]'],
  [other, '<pad>'],
]);

/** One token per character, and three special ones. Counts how often it decodes. */
function letters() {
  let decoded = 0;
  const tokenizer: Tokenizer = {
    vocabularySize: 0x110000,
    bosId: undefined,
    eosIds: [end],
    encode: (text) => Array.from(text, (letter) => letter.codePointAt(0)!),
    decode(tokens, { specialTokens = 'skip' } = {}) {
      decoded += 1;
      const textOf = (token: number) =>
        special.has(token)
          ? specialTokens === 'keep'
            ? special.get(token)!
            : ''
          : String.fromCodePoint(token);
      return tokens.map(textOf).join('');
    },
  };
  return { tokenizer, decoded: () => decoded };
}
const { tokenizer } = letters();
const add: ToolSchema = { type: 'function', function: { name: 'add' } };
const call = 'add[ARGS]{"a":1}';

function completionOf(tokens: readonly number[], text = tokenizer.decode(tokens)) {
  return {
    tokens,
    text,
    behaviorLogprobs: tokens.map(() => -1),
    stopReason: 'stop',
    policyVersion: 0,
  } as const;
}
const encoded = (text: string) => tokenizer.encode(text);
const called = completionOf([...encoded('So. '), mark, ...encoded(call), end]);

it('puts the marks of calls into the text, without the end of the turn', () => {
  expect(called.text).toBe(`So. ${call}`);
  expect(withCallMarks(called, [add], tokenizer)).toEqual({ ...called, text: `So. [TOOL_CALLS]${call}` });
});

it('leaves a completion as it is without tools, without special tokens and without calls', () => {
  for (const tools of [undefined, []]) expect(withCallMarks(called, tools, tokenizer)).toBe(called);
  const plain = completionOf([...encoded('[TOOL_CALLS]'), ...encoded(call), end]);
  expect(withCallMarks(plain, [add], tokenizer)).toBe(plain);
  const padded = completionOf([...encoded('So.'), other, end]);
  expect(withCallMarks(padded, [add], tokenizer)).toBe(padded);
});

it('reads a call of an unknown tool too, and one that the prompt began', () => {
  const unknown = completionOf([mark, ...encoded('multiply[ARGS]{}')]);
  expect(withCallMarks(unknown, [add], tokenizer).text).toBe('[TOOL_CALLS]multiply[ARGS]{}');
  const rest = completionOf([...encoded(call), other, ...encoded('.')]);
  const json = completionOf([
    ...encoded('{"name":"add","arguments":{}}</tool_call>'),
    other,
    ...encoded('.'),
  ]);
  expect(withCallMarks(rest, [add], tokenizer)).toBe(rest);
  expect(withCallMarks(json, [add], tokenizer, '<tool_call>').text).toBe(
    '{"name":"add","arguments":{}}</tool_call><pad>.',
  );
});

it('does not bring back what followed a stop string', () => {
  const cut = completionOf([mark, ...encoded(`${call}STOP and more`)], call);
  expect(withCallMarks(cut, [add], tokenizer).text).toBe(`[TOOL_CALLS]${call}`);
  // The text is not the beginning of what the tokens say.
  const changed = completionOf([mark, ...encoded(call)], 'something else');
  expect(withCallMarks(changed, [add], tokenizer).text).toBe(`[TOOL_CALLS]${call}`);
});

it('knows tokens that plain text leaves out, and decodes each once', () => {
  const { tokenizer: own, decoded } = letters();
  const silent = () => [end, mark, other, 97].map((token) => isSilentToken(token, own));
  expect(silent()).toEqual([false, true, true, false]);
  expect(silent()).toEqual([false, true, true, false]);
  expect(decoded()).toBe(3);
});
