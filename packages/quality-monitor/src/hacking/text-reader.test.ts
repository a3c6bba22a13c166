import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OwnCounts } from './own-counts.ts';
import { TextReader } from './text-reader.ts';

const reader = new TextReader();
const read = (text: string) => {
  reader.read(text);
  return reader;
};
const wordsOf = (text: string) => [...read(text).words.subarray(0, read(text).count)];

describe('TextReader', () => {
  it('takes for the same what differs in case, punctuation and numbers only', () => {
    expect(wordsOf('Tom has 12 apples.')).toEqual(wordsOf('tom HAS 7, apples'));
    expect(wordsOf('Tom has 12 apples.')).not.toEqual(wordsOf('Tom has twelve apples.'));
  });

  it('counts marks, punctuation, digits and lines that begin with a mark', () => {
    const { markup, symbols, digits, markedLines } = read('# Title\n- one: 1.\n- two, 22\n**bold** plain');
    expect({ markup, symbols, digits, markedLines }).toEqual({
      markup: 5,
      symbols: 5,
      digits: 3,
      markedLines: 4,
    });
  });

  it.each([
    ['zero-width characters', 'plain wo\u200brds wi\u200bth gaps', 2],
    ['look-alike letters', 'plain w\u043erds in a plain text', 1],
    ['full-width letters', 'plain \uff57ords', 1],
    ['control characters', 'plain\u0000 words\u0007', 2],
    ['direction marks', 'plain \u202ewords', 1],
    ['mathematical letters', 'plain \ud835\udc00 words', 1],
    ['stacked marks', 'plai\u0301\u0301\u0301n words', 2],
  ])('finds %s', (_, text, suspicious) => {
    expect(read(text).suspicious).toBe(suspicious);
  });

  it.each([
    ['accents', 'déjà vu, naïve façade – “quoted” … über'],
    ['Cyrillic text', 'обычный русский текст без всяких хитростей'],
    ['Chinese text', '这是一个普通的句子。'],
    ['emoji', 'well done 👍 🎉'],
  ])('finds nothing in %s', (_, text) => {
    expect(read(text).suspicious).toBe(0);
  });

  it('measures the longest run and the longest word', () => {
    const { longestRun, longestWord } = read('aaaa bb incomprehensibilities!!');
    expect([longestRun, longestWord]).toEqual([4, 21]);
  });

  it('reads any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const { count, characters, suspicious } = read(text);
        expect(characters).toBe(text.length);
        expect(count).toBeLessThanOrEqual(text.length);
        expect(suspicious).toBeLessThanOrEqual(2 * text.length);
      }),
    );
  });
});

describe('OwnCounts', () => {
  it('counts anew after it was cleared', () => {
    const counts = new OwnCounts();
    for (let round = 0; round < 3; round++) {
      counts.clear();
      expect(counts.has(7)).toBe(false);
      expect([counts.count(7), counts.count(7), counts.count(8)]).toEqual([0, 1, 0]);
      expect(counts.has(7)).toBe(true);
    }
  });
});
