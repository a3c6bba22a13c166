import { TextReader } from '@rlp/answers/text';
import { RandomStream } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuplicateWindow } from './duplicate-window.ts';
import { exactSignature, Sequences, signatureLength } from './sequences.ts';

const reader = new TextReader('ignored');
const sequences = new Sequences();
const signatureOf = (text: string) => {
  const signature = new Uint32Array(signatureLength);
  sequences.read(reader.read(text), signature);
  return signature;
};
const triples = (words: readonly string[]) =>
  words.slice(2).map((_, start) => words.slice(start, start + 3).join(' '));
const smallText = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });

describe('Sequences', () => {
  it('finds the share of repeated word triples', () => {
    fc.assert(
      fc.property(smallText, (words) => {
        sequences.read(reader.read(words.join(' ')));
        const all = triples(words);
        const expected = all.length === 0 ? 0 : 1 - new Set(all).size / all.length;
        expect(sequences.repetition).toBeCloseTo(expected, 12);
        expect(sequences.repeated).toBe(all.length - new Set(all).size);
      }),
    );
  });

  it('gives signatures that agree as far as two texts have triples in common', () => {
    const stream = RandomStream.named('words', 'signature');
    const word = (at: number) => `w${Math.floor(3000 * stream.at(at))}`;
    for (const changed of [2, 10, 40]) {
      const original = Array.from({ length: 400 }, (_, at) => word(at));
      const edited = original.map((text, at) => (at % Math.floor(400 / changed) === 7 ? `x${at}` : text));
      const [a, b] = [new Set(triples(original)), new Set(triples(edited))];
      const common = [...a].filter((triple) => b.has(triple)).length;
      const jaccard = common / (a.size + b.size - common);
      const [left, right] = [signatureOf(original.join(' ')), signatureOf(edited.join(' '))];
      const agreement = left.filter((entry, at) => entry === right[at]).length / signatureLength;
      // Four standard deviations of 64 independent entries.
      expect(Math.abs(agreement - jaccard)).toBeLessThan(4 * Math.sqrt((jaccard * (1 - jaccard)) / 64));
    }
  });
});

describe('DuplicateWindow', () => {
  /** What the window should say: texts of which none before it in the window is the same. */
  const differentIn = (texts: readonly string[]) => new Set(texts).size;

  it('counts the different texts of its last ones as they come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 }), (picks) => {
        const window = new DuplicateWindow(16, 0.8);
        const texts = picks.map((pick) => `text number ${pick} with ${pick} words of its own ${pick} times`);
        for (const [at, text] of texts.entries()) {
          window.add(signatureOf(text));
          const last = texts.slice(Math.max(0, at - 15), at + 1);
          expect([window.count, window.different]).toEqual([last.length, differentIn(last)]);
        }
      }),
    );
  });

  it('takes texts for one that differ in a word, and keeps apart those that differ in half', () => {
    const stream = RandomStream.named('words', 'near');
    const words = Array.from({ length: 100 }, (_, at) => `w${Math.floor(1000 * stream.at(at))}`);
    const window = new DuplicateWindow(100, 0.8);
    expect(window.add(signatureOf(words.join(' ')))).toBe('new');
    expect(window.add(signatureOf(words.map((word, at) => (at === 50 ? 'x' : word)).join(' ')))).toBe(
      'duplicate',
    );
    expect(window.add(signatureOf(words.map((word, at) => (at < 50 ? `y${at}` : word)).join(' ')))).toBe(
      'new',
    );
  });

  it('with exact signatures tells apart all that is not equal', () => {
    const window = new DuplicateWindow(10, 1);
    const exact = (text: string) => {
      const signature = new Uint32Array(signatureLength);
      exactSignature(text, signature);
      return signature;
    };
    expect(window.add(exact('go on and go on and go on and'))).toBe('new');
    expect(window.add(exact('go on and go on and go on and go on and'))).toBe('new');
    expect(window.add(exact('go on and go on and go on and'))).toBe('duplicate');
    for (const other of ['Go on', 'go on', 'go  on', 'go on ']) expect(window.add(exact(other))).toBe('new');
  });
});
