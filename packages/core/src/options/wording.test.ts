import { expect, it } from 'vitest';
import { inWords, shownValue } from './wording.ts';

it.each([
  [undefined, 'nothing'],
  [null, 'null'],
  ['x'.repeat(40), JSON.stringify('x'.repeat(40))],
  ['x'.repeat(41), JSON.stringify(`${'x'.repeat(40)}…`)],
  [() => 1, 'a function'],
  [[], 'an empty list'],
  [[1], 'a list'],
  [{}, 'an object'],
  [{ constructor: 1 }, 'an object with a field named constructor'],
  [true, 'true'],
])('shows %j as %s', (value, shown) => {
  expect(shownValue(value)).toBe(shown);
});

it.each([
  ['Too small: expected array to have >=2 items', [1], 'expected at least 2 items, got 1'],
  ['Too big: expected string to have <=1 characters', 'ab', 'expected at most 1 character, got 2'],
  ['Too small: expected set to have >=1 items', new Set(), 'expected at least 1 item, got a Set of 0'],
  ['Too small: expected int to be >0', 0, 'expected a number of more than 0, got 0'],
  ['Too big: expected number to be <5', 5, 'expected a number of less than 5, got 5'],
  ['Invalid number: must be a multiple of 4', 6, 'expected a multiple of 4, got 6'],
  ["Invalid discriminator value. Expected 'a' | 'b'", 3, "expected one of 'a', 'b', got 3"],
  ["Invalid discriminator value. Expected 'a' | 'undefined' | 'b'", 3, "expected one of 'a', 'b', got 3"],
  ['Invalid option: expected one of "a"|"b"', 'c', 'expected one of "a", "b", got "c"'],
  ['Invalid input: expected never, received string', 'secret', 'expected nothing, got "secret"'],
  ['Invalid input: expected bigint', 1, 'expected bigint, got 1'],
  ['Invalid key in record', {}, 'expected other keys'],
  ['Invalid input', 3, 'expected another value, got 3'],
  ['must be odd', 2, 'must be odd'],
])('says %j in words', (message, value, words) => {
  expect(inWords(message, value)).toBe(words);
});
