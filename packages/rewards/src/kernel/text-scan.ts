import { visitWords, whiteSpaceTable } from './white-space.ts';
import { WordTable } from './word-table.ts';

/** What the reward components need to know about a text. */
export interface TextScan {
  /** Runs of characters that are not white space, white space being what Python's `str.split()` takes for it. */
  readonly words: number;
  /** Words that differ, case counting. */
  readonly uniqueWords: number;
  /** Unicode code points in words; a lone surrogate is one. */
  readonly letters: number;
  /** Whether any of `.`, `!`, `?` occurs. */
  readonly sentenceEnds: 'some' | 'none';
  /** 1 for each pattern that occurs, case not counting, wherever it stands. Shape: `[patterns]`. */
  readonly found: Uint8Array;
}

const isSentenceEnd = (code: number) => code === 0x2e || code === 0x21 || code === 0x3f;

/** Scans texts character by character: for every text, and the definition that the kernel is tested against. */
export class PlainScanner {
  readonly #table = new WordTable();
  readonly #patterns: readonly string[];
  readonly #found: Uint8Array;

  /** @param patterns - In lower case, none of them empty. */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
    this.#found = new Uint8Array(patterns.length);
  }

  /** The result is good until the next scan. */
  scan(text: string): TextScan {
    const counts = this.#countWords(text);
    const lower = this.#patterns.length === 0 ? '' : text.toLowerCase();
    for (const [index, pattern] of this.#patterns.entries()) {
      this.#found[index] = lower.includes(pattern) ? 1 : 0;
    }
    return { ...counts, found: this.#found };
  }

  #countWords(text: string): Omit<TextScan, 'found'> {
    const space = whiteSpaceTable();
    const table = this.#table;
    const { length } = text;
    table.begin(text);
    let crowd = 0;
    let words = 0;
    let letters = 0;
    let ends = 0;
    let hash = 0;
    let start = -1;
    let before = 0;
    for (let at = 0; at <= length; at++) {
      const code = at < length ? text.charCodeAt(at) : 0x20;
      if (space[code] === 1) {
        if (start < 0) continue;
        words += 1;
        letters += at - start;
        if (crowd === 0 && table.enter(start, at, hash) === 'crowded') crowd = 1;
        start = -1;
        hash = 0;
        before = 0;
        continue;
      }
      if (start < 0) start = at;
      hash = (Math.imul(hash, 0x01000193) + code) | 0;
      if (isSentenceEnd(code)) ends = 1;
      if (code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff) letters -= 1;
      before = code;
    }
    const uniqueWords = crowd === 0 ? table.unique : countWithStrings(text);
    table.end();
    return { words, uniqueWords, letters, sentenceEnds: ends === 1 ? 'some' : 'none' };
  }
}

/** For texts made to defeat the table: a string per word, and the platform's own hash. */
function countWithStrings(text: string): number {
  const seen = new Set<string>();
  visitWords(text, (start, end) => {
    seen.add(text.slice(start, end));
    return undefined;
  });
  return seen.size;
}
