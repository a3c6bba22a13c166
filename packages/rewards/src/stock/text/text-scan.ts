import { HashSet, TextReader } from '@rlp/answers/text';

/** Counts that the text components read. */
export interface TextScan {
  /** Runs of characters that are not white space, as Python's `str.split()` splits. */
  readonly words: number;
  /** Distinct words, case-sensitive, by their hashes. */
  readonly uniqueWords: number;
  /** Unicode code points in words. A lone surrogate counts as one. */
  readonly letters: number;
  /** Whether the text contains any of `.`, `!`, `?`. */
  readonly sentenceEnds: 'some' | 'none';
}

/** Overwritten by each scan. */
let scratch: { readonly reader: TextReader; readonly seen: HashSet } | undefined;

/** Counts the words and letters of a text, in time linear in its length. */
export function scanText(text: string): TextScan {
  scratch ??= { reader: new TextReader('kept'), seen: new HashSet() };
  const { reader, seen } = scratch;
  const { chunks, chunkCount, characters } = reader.read(text);
  seen.clear();
  for (let at = 0; at < chunkCount; at++) seen.add(chunks[at]!);
  return {
    words: chunkCount,
    uniqueWords: seen.size,
    letters: reader.codePoints(text) - characters.spaces,
    sentenceEnds: /[.!?]/.test(text) ? 'some' : 'none',
  };
}
