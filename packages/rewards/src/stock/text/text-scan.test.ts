import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanText } from './text-scan.ts';

/** The definition: Python's `str.split()`, and a set of strings. */
function naive(text: string) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: white space of Python is meant
  const spaces = /[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
  const words = text.split(spaces).filter((word) => word !== '');
  return {
    words: words.length,
    uniqueWords: new Set(words).size,
    letters: words.reduce((sum, word) => sum + [...word].length, 0),
    sentenceEnds: /[.!?]/.test(text) ? 'some' : 'none',
  };
}

const ascii = fc.constantFrom(
  ...[
    'a',
    'b',
    'A b',
    'I ',
    'i think',
    'maybe',
    'MAYBE',
    'zebra',
    '.',
    '?',
    '\u0000',
    '\u007f',
    '\u001c',
    '\u000b',
  ],
  ...[
    'perhaps, or perhaps not, who knows',
    'a-word-of-more-than-sixteen-bytes',
    'a-word-of-more-than-sixteen-letters',
  ],
  ...['a-word-of-more-than-sixteen-bytes-and-even-more-than-32', ' ', '\t', '\n', '  ', '[', '`', '@', '{'],
);
const wide = fc.constantFrom(
  '\ud83d\ude00',
  '\ud83d',
  '\ude00',
  '\u00a0',
  '\u2028',
  'Über',
  'ÜBER',
  '\u0130X',
  'Σ',
  'é',
);

describe('scanText', () => {
  it('equals the definition on any text, lone surrogates included', () => {
    const units = fc.array(fc.nat(0xffff), { maxLength: 10 }).map((codes) => String.fromCharCode(...codes));
    const part = fc.oneof(ascii, wide, units);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const text = parts.join('');
        expect(scanText(text)).toEqual(naive(text));
      }),
      { numRuns: 200 },
    );
  });

  it('counts the halves of a pair that a space parts', () => {
    expect(scanText('\ud83d \ude00')).toMatchObject({ words: 2, letters: 2 });
  });

  it('takes linear time on words that share a hash', () => {
    // Thue–Morse words collide under every polynomial hash modulo 2^32.
    let a = 'ab';
    let b = 'ba';
    while (a.length < 1024) [a, b] = [a + b, b + a];
    const words = Array.from({ length: 512 }, (_, k) =>
      Array.from({ length: 9 }, (_, bit) => ((k >> bit) & 1 ? a : b)).join(''),
    );
    const start = performance.now();
    expect(scanText(words.join(' '))).toMatchObject({ words: 512, uniqueWords: 512 });
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('takes 10 MB', () => {
    expect(scanText('one Two maybe. '.repeat(700_000))).toMatchObject({ words: 2_100_000, uniqueWords: 3 });
  });
});
