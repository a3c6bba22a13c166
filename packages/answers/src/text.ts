export { shownText, withoutComments } from './shown-text.ts';

/** White space, words and digits as Python has them. */
const highest = 0x3000;

let table: Uint8Array | undefined;

/**
 * A 1 at the index of every UTF-16 code unit that is white space, as Python's `str.split` and `str.strip` have it. Those past the end
 * are none. Built once.
 */
export function whiteSpaceTable(): Uint8Array {
  if (table !== undefined) return table;
  table = new Uint8Array(highest + 1);
  table.fill(1, 0x09, 0x0e).fill(1, 0x1c, 0x21).fill(1, 0x2000, 0x200b);
  for (const code of [0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, highest]) table[code] = 1;
  return table;
}

/** A text without white space around it, by {@link whiteSpaceTable}. */
export function trimmed(text: string): string {
  const space = whiteSpaceTable();
  let [start, end] = [0, text.length];
  while (start < end && space[text.charCodeAt(start)] === 1) start += 1;
  while (end > start && space[text.charCodeAt(end - 1)] === 1) end -= 1;
  return text.slice(start, end);
}

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
