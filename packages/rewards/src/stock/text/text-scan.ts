import { visitWords } from '../../shared/text.ts';

/** Counts that the text components read. */
export interface TextScan {
  /** Runs of characters that are not white space, as Python's `str.split()` splits. */
  readonly words: number;
  /** Distinct words, case-sensitive. */
  readonly uniqueWords: number;
  /** Unicode code points in words. A lone surrogate counts as one. */
  readonly letters: number;
  /** Whether the text contains any of `.`, `!`, `?`. */
  readonly sentenceEnds: 'some' | 'none';
}

/** Counts the words and letters of a text, in time linear in its length. */
export function scanText(text: string): TextScan {
  const seen = new Set<string>();
  let words = 0;
  let letters = 0;
  visitWords(text, (start, end) => {
    words += 1;
    letters += end - start;
    seen.add(text.slice(start, end));
    return undefined;
  });
  return {
    words,
    uniqueWords: seen.size,
    letters: letters - surrogatePairs(text),
    sentenceEnds: /[.!?]/.test(text) ? 'some' : 'none',
  };
}

function surrogatePairs(text: string): number {
  let pairs = 0;
  for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) pairs += 1;
  return pairs;
}
