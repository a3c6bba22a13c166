import { visitWords, whiteSpaceTable } from '@rlp/answers/text';

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
  const { words, uniqueWords, letters } = scanAscii(text) ?? scanStrings(text);
  return { words, uniqueWords, letters, sentenceEnds: /[.!?]/.test(text) ? 'some' : 'none' };
}

type Counts = Omit<TextScan, 'sentenceEnds'>;

function scanStrings(text: string): Counts {
  const seen = new Set<string>();
  let words = 0;
  let letters = 0;
  visitWords(text, (start, end) => {
    words += 1;
    letters += end - start;
    seen.add(text.slice(start, end));
    return undefined;
  });
  for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) letters -= 1;
  return { words, uniqueWords: seen.size, letters };
}

/** Longer texts are rare, and need not leave large buffers behind. */
const longestAscii = 65_535;
/** Places that are tried for a word. More are taken for words that were made to collide. */
const mostProbes = 32;

/** Text as bytes, and a hash table with open addresses: hash, beginning and length of each distinct word. Length 0 is a free place. */
interface Scratch {
  readonly bytes: Uint8Array;
  readonly table: Int32Array;
}

const encoder = new TextEncoder();
/** Overwritten by each scan. */
let scratch: Scratch | undefined;

/** A text as bytes. `undefined` if it is not ASCII or is long. */
function asciiScratch(text: string): Scratch | undefined {
  const size = text.length;
  if (size > longestAscii) return;
  scratch ??= { bytes: new Uint8Array(longestAscii + 1), table: new Int32Array(3 * 32_768) };
  const { read, written } = encoder.encodeInto(text, scratch.bytes);
  return read === size && written === size ? scratch : undefined;
}

/** The same without making strings. `undefined` for a text that is not ASCII, is long, or has words that collide. */
function scanAscii(text: string): Counts | undefined {
  const size = text.length;
  const ascii = asciiScratch(text);
  if (ascii === undefined) return;
  const { bytes, table } = ascii;
  bytes[size] = 0x20;
  let places = 64;
  while (places < size / 2) places *= 2;
  table.fill(0, 0, 3 * places);
  const space = whiteSpaceTable();
  let [words, uniqueWords, letters] = [0, 0, 0];
  for (let at = 0; at < size; at++) {
    let byte = bytes[at]!;
    if (space[byte] === 1) continue;
    const start = at;
    let hash = 0;
    // The text ends with a space.
    do {
      hash = ((hash << 5) | (hash >>> 27)) ^ byte;
      byte = bytes[++at]!;
    } while (space[byte] === 0);
    words += 1;
    letters += at - start;
    const entry = findWord(bytes, table, { hash, start, length: at - start, mask: places - 1 });
    if (entry < 0) return;
    if (table[entry + 2] !== 0) continue;
    table[entry] = hash;
    table[entry + 1] = start;
    table[entry + 2] = at - start;
    uniqueWords += 1;
  }
  return { words, uniqueWords, letters };
}

/** Where a word is in the table, or belongs. -1 if there are too many like it. */
function findWord(
  bytes: Uint8Array,
  table: Int32Array,
  { hash, start, length, mask }: Readonly<Record<'hash' | 'start' | 'length' | 'mask', number>>,
): number {
  let place = Math.imul(hash, 0x9e3779b1) >>> 16;
  for (let probe = 0; probe < mostProbes; probe++, place++) {
    const entry = 3 * (place & mask);
    const found = table[entry + 2];
    if (found === 0) return entry;
    if (table[entry] !== hash || found !== length) continue;
    const known = table[entry + 1]!;
    let same = 0;
    while (same < length && bytes[known + same] === bytes[start + same]) same += 1;
    if (same === length) return entry;
  }
  return -1;
}
