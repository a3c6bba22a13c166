import { FormatError } from '@rlp/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonElements } from './json-elements.ts';

const encoder = new TextEncoder();

/** Elements of a list that comes in pieces of some bytes. */
function elementsOf(text: string, size: number): string[] {
  const list = new JsonElements('list.json');
  const bytes = encoder.encode(text);
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const element of list.push(bytes.slice(at, at + size)))
      found.push(new TextDecoder().decode(element));
  }
  list.end();
  return found;
}

it('cuts any list into its elements, in pieces of any length', () => {
  const space = fc.constantFrom(undefined, 1, '\t');
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', 'é', ' ') });
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(text),
    fc.dictionary(text, fc.array(text)),
  );
  fc.assert(
    fc.property(fc.array(value), space, fc.integer({ min: 1, max: 9 }), (values, indent, size) => {
      const elements = elementsOf(` ${JSON.stringify(values, undefined, indent)}\n`, size);
      expect(elements.map((element) => JSON.parse(element))).toEqual(values);
    }),
    { numRuns: 200 },
  );
});

it.each([
  ['[]', []],
  ['[ \r\n\t]', []],
  ['\ufeff[1]', ['1']],
  ['[1,]', ['1', '']],
  ['[,1]', ['', '1']],
])('reads %j', (text, elements) => {
  for (const size of [1, 100]) expect(elementsOf(text, size)).toEqual(elements);
});

it.each([
  [
    '[1, 2',
    'list.json: expected a JSON list that ends with ], got an end after 1 element; the file is cut short, so write or download it again',
  ],
  ['[{"a": [1', 'got an end after 0 elements'],
  ['["]', 'got an end after 0 elements'],
  ['[1] [2]', 'list.json: expected nothing after the end of the JSON list'],
  ['[1]]', 'list.json: expected nothing after the end of the JSON list'],
])('refuses %j', (text, problem) => {
  for (const size of [1, 100]) {
    expect(() => elementsOf(text, size)).toThrow(FormatError);
    expect(() => elementsOf(text, size)).toThrow(problem);
  }
});

it('keeps as much of an element as the limit says, and no more', () => {
  const pushed = (...pieces: string[]) => {
    const list = new JsonElements('list.json', 5);
    return pieces.flatMap((piece) => list.push(encoder.encode(piece))).length;
  };
  expect(pushed('[1,"abc', 'd', '","ab', 'cd', '"]')).toBe(3);
  expect(() => pushed('[1,"abc', 'de')).toThrow(
    new FormatError('list.json, element 2: expected at most 5 bytes, got more'),
  );
});
