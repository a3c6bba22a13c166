import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteLines, decodedLines, joinedBytes } from './byte-lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (given: Uint8Array | 'too-long' | undefined) =>
  given instanceof Uint8Array ? new TextDecoder().decode(given) : given;

describe('ByteLines', () => {
  it('gives whole lines as soon as a chunk ends one, and the rest at the end', () => {
    const lines = new ByteLines(100);
    const pushed = ['ab', 'c\nd\ne', 'f', '\n', '\n', 'g'].map((chunk) => text(lines.push(bytes(chunk))));
    expect(pushed).toEqual([undefined, 'abc\nd', undefined, 'ef', '', undefined]);
    expect(text(lines.rest())).toBe('g');
    expect(text(new ByteLines(1).rest())).toBe('');
  });

  it('takes lines of exactly the limit, however they come, and none that are longer', () => {
    const unit = fc.constantFrom('a', '\n');
    const chunks = fc.array(fc.string({ unit, maxLength: 6 }), { maxLength: 6 });
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 6 }), (given, limit) => {
        const lines = new ByteLines(limit);
        const whole = given.map((chunk) => lines.push(bytes(chunk)));
        const all = [...whole, lines.rest()];
        const isTooLong = given
          .join('')
          .split('\n')
          .some((line) => line.length > limit);
        // A line that is too long may hide behind one that is not, so all that come with it are looked at.
        if (!isTooLong)
          expect(
            all
              .filter((each) => each !== undefined)
              .map(text)
              .join('\n'),
          ).toBe(given.join(''));
        const ends = given.join('').split('\n');
        if (ends[0]!.length > limit) expect(all).toContain('too-long');
        if (ends.at(-1)!.length > limit) expect(all).toContain('too-long');
      }),
      { numRuns: 300 },
    );
  });

  it('reports a line that grows too long at once, and one behind whole lines at the next call', () => {
    const growing = new ByteLines(3);
    expect([growing.push(bytes('ab')), growing.push(bytes('c')), growing.push(bytes('d'))]).toEqual([
      undefined,
      undefined,
      'too-long',
    ]);
    const behind = new ByteLines(3);
    expect(text(behind.push(bytes('a\nbcde')))).toBe('a');
    expect(behind.rest()).toBe('too-long');
    expect(behind.push(bytes('\n'))).toBe('too-long');
  });

  it('reads a line break at the beginning of a chunk as the end of what came before', () => {
    const lines = new ByteLines(2);
    expect(text(lines.push(bytes('ab')))).toBeUndefined();
    expect(text(lines.push(bytes('\ncd')))).toBe('ab');
    expect(text(lines.push(bytes('\n')))).toBe('cd');
    expect(text(lines.push(bytes('\n')))).toBe('');
  });
});

it('joins pieces in their order', () => {
  expect(joinedBytes([])).toEqual(new Uint8Array());
  expect(joinedBytes([Uint8Array.of(1), new Uint8Array(), Uint8Array.of(2, 3)])).toEqual(
    Uint8Array.of(1, 2, 3),
  );
});

it('decodes lines, and only those that are UTF-8', () => {
  expect(decodedLines(bytes('a\n☃\n'))).toEqual(['a', '☃', '']);
  expect(decodedLines(Uint8Array.of(0x61, 0x0a, 0xff, 0x0a, 0x0a, 0x62))).toEqual(['a', undefined, '', 'b']);
  expect(decodedLines(Uint8Array.of(0xff))).toEqual([undefined]);
});
