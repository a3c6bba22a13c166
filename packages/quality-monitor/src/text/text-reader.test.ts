import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextReader } from './text-reader.ts';

const reader = new TextReader();
const wordsOf = (text: string) => {
  const { words, wordCount } = reader.read(text);
  return [...words.subarray(0, wordCount)];
};

describe('TextReader', () => {
  it('takes for the same what differs in case, punctuation and numbers only', () => {
    expect(wordsOf('Tom has 12 apples.')).toEqual(wordsOf('tom HAS 7, apples'));
    expect(wordsOf('Tom has 12 apples.')).not.toEqual(wordsOf('Tom has twelve apples.'));
  });

  it('counts marks, punctuation, digits and lines that begin with a mark', () => {
    const { markup, symbols, digits, markedLines } = reader.read(
      '# Title\n- one: 1.\n- two, 22\n**bold** plain',
    ).characters;
    expect({ markup, symbols, digits, markedLines }).toEqual({
      markup: 5,
      symbols: 5,
      digits: 3,
      markedLines: 4,
    });
  });

  it('counts calls and dots as code has them', () => {
    const callsIn = (text: string) => reader.read(text).characters.calls;
    expect(callsIn('import os; os._exit(0)\nprocess.exit(1)')).toBe(3);
    expect(callsIn('It is 3.5 (or so), e. g. in 2(3 + 4). Then.It')).toBe(1);
  });

  it.each([
    ['spaces between words that are no plain ones', 'plain\u00a0words\u2009with gaps', 2],
    ['zero-width characters', 'plain wo\u200brds wi\u200bth gaps', 2],
    ['look-alike letters', 'plain w\u043erds in a plain text', 1],
    ['full-width letters', 'plain \uff57ords', 1],
    ['control characters', 'plain\u0000 words\u0007', 2],
    ['direction marks', 'plain \u202ewords', 1],
    ['mathematical letters', 'plain \ud835\udc00 words', 1],
    ['stacked marks', 'plai\u0301\u0301\u0301n words', 2],
  ])('finds %s', (_, text, suspicious) => {
    expect(reader.read(text).characters.suspicious).toBe(suspicious);
  });

  it.each([
    ['accents', 'déjà vu, naïve façade – “quoted” … über'],
    ['Cyrillic text', 'обычный русский текст без всяких хитростей'],
    ['Chinese text', '这是一个普通的句子。'],
    ['emoji', 'well done 👍 🎉'],
  ])('finds nothing in %s', (_, text) => {
    expect(reader.read(text).characters.suspicious).toBe(0);
  });

  it('measures the longest run and the longest word', () => {
    const { longestWord, characters } = reader.read('aaaa bb incomprehensibilities!!');
    expect([characters.longestRun, longestWord]).toEqual([4, 21]);
  });

  it('counts the chunks between any white space', () => {
    expect(reader.read(' One\ttwo\u00a0three\u2003ONE\nfour\u3000').chunkCount).toBe(5);
  });

  it('takes for the same chunk what differs in case only', () => {
    const { low, high, chunkCount } = reader.read("don't DON'T dont snake_case, SNAKE_CASE, snake-case,");
    const chunks = Array.from({ length: chunkCount }, (_, at) => `${low[at]} ${high[at]}`);
    expect(chunks.map((chunk) => chunks.indexOf(chunk))).toEqual([0, 0, 2, 3, 3, 5]);
  });

  it('reads the words of ASCII and of other texts alike', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 100 });
    fc.assert(
      fc.property(ascii, (text) => {
        const [plain, other] = [reader.read(text), reader.read(`${text} \u00e9`)];
        expect([...other.words.subarray(0, plain.wordCount)]).toEqual([
          ...plain.words.subarray(0, plain.wordCount),
        ]);
        expect([...other.low.subarray(0, plain.chunkCount)]).toEqual([
          ...plain.low.subarray(0, plain.chunkCount),
        ]);
        expect(other.characters).toEqual({ ...plain.characters, all: text.length + 2 });
      }),
    );
  });

  it('reads any text, the same alone and among others', () => {
    const texts = fc.array(
      fc.uint16Array({ maxLength: 300 }).map((units) => String.fromCharCode(...units)),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(texts, (batch) => {
        for (const [at, read] of new TextReader().readAll(batch).entries()) {
          const text = batch[at]!;
          const { wordCount, characters } = read;
          expect(characters.all).toBe(text.length);
          expect(wordCount).toBeLessThanOrEqual(text.length);
          expect(characters.suspicious).toBeLessThanOrEqual(2 * text.length);
          expect(read).toEqual(reader.read(text));
        }
      }),
    );
  });

  it('makes room for texts of any length', () => {
    const { wordCount, chunkCount } = reader.read('a,b '.repeat(5000));
    expect([wordCount, chunkCount]).toEqual([10_000, 5000]);
  });
});
