import { lostCharacters, type Task, type Tokenizer } from '@rlp/core';
import { byteTokenizer, characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';

let tasksMade = 0;
const task = (prompt: Task['prompt'], answer?: unknown): Task => ({
  id: String(tasksMade++),
  prompt,
  metadata: { answer },
});
const strict = characterTokenizer('abc 12', { end: '.' });
const withUnknown = characterTokenizer('abc 12', { end: '.', unknown: '<unk>' });
/** Leaves out what it does not know, as some tokenizers do. */
const silent: Tokenizer = {
  ...strict,
  encode: (text, options) => strict.encode(text.replaceAll(/[^abc 12]/gu, ''), options),
};

describe.each([
  ['refuses', strict, false],
  ['writes <unk> for', withUnknown, true],
  ['leaves out', silent, true],
] as const)('a tokenizer that %s unknown characters', (_, tokenizer, isSilent) => {
  it('has those it has', () => {
    expect(lostCharacters([task('a b', '12'), task('', undefined)], tokenizer)).toEqual({});
  });

  it('lacks those it has not, in prompts and answers', () => {
    const { note, whole } = lostCharacters(
      [task('a é b', 1), task([{ role: 'user', content: 'cé' }], '7'), task('a', 'b')],
      tokenizer,
    );
    expect(note).toContain('lacks 2 characters (é 7) of 2 prompts and 1 answers of the 3 tasks looked at');
    expect(whole).toBeUndefined();
  });

  it('may leave nothing of a prompt', () => {
    const tasks = [task('a'), task('你好 ！')];
    expect(lostCharacters(tasks, tokenizer).whole).toBe(isSilent ? tasks[1] : undefined);
  });

  it('may drop what nobody sees', () => {
    expect(lostCharacters([task('a\u200b\u0301\n\t b')], tokenizer)).toEqual({});
  });
});

it('finds nothing in a tokenizer of bytes', () => {
  const odd = 'é 你 🙂 ſ ⁇ \u0000 ½ \ud800';
  expect(lostCharacters([task(odd, odd)], byteTokenizer())).toEqual({});
});

it('shows twenty characters at most', () => {
  const many = Array.from({ length: 50 }, (_, k) => String.fromCodePoint(0x4e00 + k)).join('');
  expect(lostCharacters([task(many)], strict).note).toMatch(/lacks 50 characters \((. ){20}…\)/u);
  expect(lostCharacters([task(many.slice(0, 20))], strict).note).toMatch(
    /lacks 20 characters \((. ){19}.\)/u,
  );
});
