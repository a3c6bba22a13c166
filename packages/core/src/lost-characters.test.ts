import { describe, expect, it } from 'vitest';
import { lostCharacters } from './lost-characters.ts';
import type { Task } from './task.ts';
import type { Tokenizer } from './tokenizer.ts';

let tasksMade = 0;
const task = (prompt: Task['prompt'], answer?: unknown): Task => ({
  id: String(tasksMade++),
  prompt,
  metadata: { answer },
});
/** A token for each character of `known`. `fate` says what becomes of others. */
function characters(known: string, fate: 'refuses' | 'writes <unk> for' | 'leaves out'): Tokenizer {
  const pieces = [...known, '<unk>'];
  const tokenOf = (character: string) => {
    const at = known.indexOf(character);
    if (at < 0 && fate === 'refuses') throw new Error(`no token for ${character}`);
    return at < 0 && fate === 'leaves out' ? [] : [at < 0 ? known.length : at];
  };
  return {
    ...{ vocabularySize: pieces.length, bosId: undefined, eosIds: [] },
    encode: (text) => [...text].flatMap(tokenOf),
    decode: (tokens) => tokens.map((token) => pieces[token]).join(''),
  };
}

/** A token for each byte, so that half a pair of surrogates becomes U+FFFD. */
const bytes: Tokenizer = {
  ...{ vocabularySize: 256, bosId: undefined, eosIds: [] },
  encode: (text) => [...new TextEncoder().encode(text)],
  decode: (tokens) => new TextDecoder().decode(Uint8Array.from(tokens)),
};

describe.each([
  ['refuses', false],
  ['writes <unk> for', true],
  ['leaves out', true],
] as const)('a tokenizer that %s unknown characters', (fate, isSilent) => {
  const tokenizer = characters('abc 12', fate);

  it('has those it has', () => {
    expect(lostCharacters([task('a b', '12'), task('', undefined)], tokenizer)).toEqual({});
  });

  it('lacks those it has not, in prompts and answers', () => {
    const { note, whole } = lostCharacters(
      [task('a é b', 1), task([{ role: 'user', content: 'cé' }], '7'), task('a', 'b')],
      tokenizer,
    );
    expect(note).toContain('lacks 2 characters (é 7) of 2 prompts and 1 answer of the 3 tasks looked at');
    expect(whole).toBeUndefined();
  });

  it('counts a task once that was taken twice', () => {
    const twice = task('é');
    expect(lostCharacters([twice, task('a'), twice], tokenizer).note).toContain(
      'lacks 1 character (é) of 1 prompt and 0 answers of the 2 tasks',
    );
  });

  it('may leave nothing of a prompt', () => {
    const tasks = [task('a'), task('你好 ！')];
    expect(lostCharacters(tasks, tokenizer).whole).toBe(isSilent ? tasks[1] : undefined);
  });

  it('may drop what nobody sees', () => {
    expect(lostCharacters([task('a\u200b\u0301\n\t b')], tokenizer)).toEqual({});
  });
});

it('knows characters that are only in tokens of whole words', () => {
  const single = characters('ab ', 'writes <unk> for');
  const words: Tokenizer = {
    ...single,
    encode: (text) => text.split(/(Bern)/).flatMap((part) => (part === 'Bern' ? [99] : single.encode(part))),
    decode: (tokens) => tokens.map((token) => (token === 99 ? 'Bern' : single.decode([token]))).join(''),
  };
  expect(lostCharacters([task('a Bern b', 'Bern')], words)).toEqual({});
  expect(lostCharacters([task('Bern unk')], words).note).toContain('lacks 2 characters (u k)');
});

it('finds nothing in a tokenizer of bytes', () => {
  const odd = 'é 你 🙂 ſ ⁇ \u0000 ½ \ud800';
  expect(lostCharacters([task(odd, odd)], bytes)).toEqual({});
});

it('shows twenty characters at most', () => {
  const strict = characters('abc 12', 'refuses');
  const many = Array.from({ length: 50 }, (_, k) => String.fromCodePoint(0x4e00 + k)).join('');
  expect(lostCharacters([task(many)], strict).note).toMatch(/lacks 50 characters \((. ){20}…\)/u);
  expect(lostCharacters([task(many.slice(0, 20))], strict).note).toMatch(
    /lacks 20 characters \((. ){19}.\)/u,
  );
});
