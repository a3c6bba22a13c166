import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashSet, TextReader } from './text.ts';

const reader = new TextReader('ignored');

describe('TextReader', () => {
  it('counts controls, surrogates, private and replacement characters', () => {
    expect(
      reader.read('plain\u0000 words\u0007\ufffd \ud835\udc00 \ue000 \u001c é–👍').characters.garbled,
    ).toBe(9);
    expect(reader.read('déjà vu, обычный текст 这是 tab\t line\n').characters.garbled).toBe(0);
  });

  it('counts the chunks between any white space', () => {
    expect(reader.read(' One\ttwo\u00a0three\u2003ONE\nfour\u3000').chunkCount).toBe(5);
  });

  it('takes for the same chunk what differs in case only', () => {
    const { chunks: hashes, chunkCount } = reader.read(
      "don't DON'T dont snake_case, SNAKE_CASE, snake-case,",
    );
    const chunks = [...hashes.subarray(0, chunkCount)];
    expect(chunks.map((chunk) => chunks.indexOf(chunk))).toEqual([0, 0, 2, 3, 3, 5]);
  });

  it('reads any text, the same alone and after others', () => {
    const texts = fc.array(
      fc.uint16Array({ maxLength: 300 }).map((units) => String.fromCharCode(...units)),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(texts, (batch) => {
        const contents = ({ chunks, chunkCount, characters }: TextReader) => ({
          ...{ chunks: chunks.slice(0, chunkCount), chunkCount, characters },
        });
        for (const text of batch) {
          const read = contents(reader.read(text));
          expect(read.characters.all).toBe(text.length);
          expect(read.chunkCount).toBeLessThanOrEqual(text.length);
          expect(read.characters.garbled).toBeLessThanOrEqual(text.length);
          expect(read).toEqual(contents(new TextReader('ignored').read(text)));
        }
      }),
    );
  });

  it('makes room for texts of any length', () => {
    expect(reader.read('a,b '.repeat(5000)).chunkCount).toBe(5000);
  });
});

describe('HashSet', () => {
  it('counts what a Set counts, over many emptyings', () => {
    const set = new HashSet();
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -9, max: 9 }).filter((hash) => hash !== 0)), (hashes) => {
        set.clear();
        for (const hash of hashes) set.add(hash);
        expect(set.size).toBe(new Set(hashes).size);
      }),
    );
  });

  it('grows, and gives back room that it does not need', () => {
    const set = new HashSet();
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < 20_000; at++) set.add(1 + (at % 7000));
      expect(set.size).toBe(7000);
      set.clear();
      for (let at = 0; at < 10; at++) set.add(1 + (at % 5));
      expect(set.size).toBe(5);
      set.clear();
    }
  });
});
