/** White space, words and digits as Python has them. */
import { trimmed, whiteSpaceTable } from './white-space.ts';

export { pairReader, tagName } from './extract/xml-fields.ts';
export { HashSet } from './hash-set.ts';
export { lookAlikes, lookAlikesAmongLatin } from './look-alikes.ts';
export { ink, seenText, seenTexts, withPlainBlanks } from './seen-text.ts';
export { shownText, withoutSources, withoutThoughts } from './shown-text.ts';
export { TextReader } from './text-reader.ts';
export { trimmed, whiteSpaceTable } from './white-space.ts';

/** Calls `visit` with the beginning and the end of each word, until it gives `'stop'`. */
export function visitWords(text: string, visit: (start: number, end: number) => 'stop' | undefined): void {
  const space = whiteSpaceTable();
  const { length } = text;
  let start = -1;
  for (let at = 0; at <= length; at++) {
    const isSpace = at === length || space[text.charCodeAt(at)] === 1;
    if (!isSpace) {
      if (start < 0) start = at;
    } else if (start >= 0) {
      if (visit(start, at) === 'stop') return;
      start = -1;
    }
  }
}

/** The words of a text, which white space separates. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  visitWords(text, (start, end) => {
    words.push(text.slice(start, end));
    return undefined;
  });
  return words;
}

/** The ASCII digit of a decimal digit of any script. They stand in runs of ten, from 0 to 9. */
export function decimalDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}

/**
 * A float as Python's `float` reads it, decimal digits of any script, `1_000`, `inf` and `nan` included; `undefined` for anything
 * else.
 */
export function readFloat(text: string): number | undefined {
  if (text.length > 400) return;
  const plain = trimmed(text)
    .replaceAll(/\p{Nd}/gu, decimalDigit)
    .replaceAll(/(?<=\d)_(?=\d)/g, '');
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(plain)) return Number(plain);
  const [, sign, name] = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(plain) ?? [];
  if (name === undefined) return;
  if (name.toLowerCase() === 'nan') return Number.NaN;
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
