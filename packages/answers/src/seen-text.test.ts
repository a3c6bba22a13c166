import { expect, it } from 'vitest';
import { seenText, seenTexts, withPlainBlanks } from './seen-text.ts';

it.each([
  ['a <b>bold</b> word', 'a bold word'],
  ['one<br>two', 'one two'],
  ['a<!-- hidden -->b', 'ab'],
  ['[text](https://example.org)', '[text]'],
  ['`<b>` stays', '`<b>` stays'],
  ['x&nbsp;y&zwj;z', 'x yz'],
  ['<|im_end|>', ''],
])('reads %j as its page shows it: %j', (text, seen) => {
  expect(seenText(text)).toBe(seen);
});

it('reads what elements hide beside what they show', () => {
  expect(seenTexts('a<span hidden>b</span>')).toEqual(['a', 'ab']);
  expect(seenTexts('plain')).toEqual(['plain']);
});

it('writes blanks of every kind as spaces, and keeps letters by number', () => {
  expect(withPlainBlanks('a&#160;b&#x2800;c\u3164d&#65;')).toBe('a bc d&#65;');
});
