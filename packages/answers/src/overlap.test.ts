import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rougeL, textSimilarity, withoutDenied, wordOverlap } from './index.ts';

describe('overlap', () => {
  it('is F1 of words without articles and punctuation', () => {
    // 2 words in common of 3 and 2: precision 2/3, recall 1.
    expect(wordOverlap('The cat sat.', 'a cat, sat!').f1).toBe(1);
    expect(wordOverlap('big cat sat', 'cat sat')).toEqual({ f1: 0.8, precision: 2 / 3, recall: 1 });
    expect(wordOverlap('yes it is', 'yes').f1).toBe(0);
    expect(wordOverlap('', '').f1).toBe(0);
  });

  it('is ROUGE-L by the longest common subsequence', () => {
    // Lin 2004: "police killed the gunman" against "police kill the gunman" and "the gunman kill police": 3/4 and 2/4.
    expect(rougeL('police kill the gunman', 'police killed the gunman').f1).toBe(0.75);
    expect(rougeL('the gunman kill police', 'police killed the gunman').f1).toBe(0.5);
  });

  it('finds the same subsequence as the table of dynamic programming', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 100 });
    fc.assert(
      fc.property(words, words, (a, b) => {
        const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
        for (let i = 1; i <= a.length; i++) {
          for (let j = 1; j <= b.length; j++) {
            table[i]![j] =
              a[i - 1] === b[j - 1]
                ? table[i - 1]![j - 1]! + 1
                : Math.max(table[i - 1]![j]!, table[i]![j - 1]!);
          }
        }
        const expected = a.length === 0 ? 0 : table[a.length]![b.length]! / a.length;
        expect(rougeL(a.join(' '), b.join(' ')).precision).toBeCloseTo(expected, 12);
      }),
    );
  });
});

const treaty = 'the Treaty of Westphalia';

describe('what a text denies of another one', () => {
  it.each([
    ['not Paris', 'Paris'],
    ['Paris? I doubt it', 'Paris'],
    ['Paris 👎', 'Paris'],
    ['niet Paris', 'Paris'],
    ['non-Paris', 'Paris'],
    ['Paris ではない', 'Paris'],
    ['anywhere but Paris', 'Paris'],
    ['Paris: 0 %', 'Paris'],
    ['!= Paris', 'Paris'],
    ['Paris. That is wrong.', 'Paris'],
    ['It is a myth that the Treaty of Westphalia was signed', treaty],
    ['Marie and Pierre Curie never discovered radium', 'Marie Curie discovered radium'],
  ])('is not in %j', (given, expected) => {
    expect(wordOverlap(withoutDenied(given, expected), expected).f1).toBe(0);
  });

  it.each([
    ['Not Rome but Paris', 'Paris', 'Paris'],
    ['Is it Paris? Paris it is', 'Paris', 'Is it Paris? Paris it is'],
    ['Paris, not London', 'Paris', 'Paris, not London'],
    ['To be or not to be', 'To be, or not to be', 'To be or not to be'],
    ['No Country for Old Men', 'No Country for Old Men', 'No Country for Old Men'],
    [
      'It was not the war that ended. The treaty was signed.',
      'The treaty was signed after the war.',
      'It was not the war that ended. The treaty was signed.',
    ],
  ])('leaves of %j for %j: %j', (given, expected, left) => {
    expect(withoutDenied(given, expected)).toBe(left);
  });
});

it('leaves out what is denied in linear time', () => {
  const begun = performance.now();
  for (const unit of ['\t\n', '\n', ' \n\t', 'Paris\n', '.\n'])
    withoutDenied(`Paris${unit.repeat(100_000)}`, 'Paris');
  expect(performance.now() - begun).toBeLessThan(5000);
});

it('measures similarity by edit distance', () => {
  expect(textSimilarity('kitten', 'sitting')).toBeCloseTo(1 - 3 / 7, 12);
});
