import { whiteSpaceTable } from './white-space.ts';

/** Chunks of the usual texts. A longer one leaves no larger buffer behind. */
const mostKept = 2 ** 16;
/** Hash of no characters. */
const emptyHash = 0x811c9dc5 | 0;

/** What a character is: part of a chunk, an ASCII letter whose case is ignored, white space, or garbled. */
const kinds = { part: 0, letter: 1, space: 2, garbled: 3, garbledSpace: 4 } as const;

type LetterCase = 'ignored' | 'kept';

const tables: { [Case in LetterCase]?: Uint8Array } = {};

/** Kind of each UTF-16 unit. Shape: `[65536]`. Built once. */
function kindTable(letterCase: LetterCase): Uint8Array {
  const { part, letter, space, garbled, garbledSpace } = kinds;
  const known = tables[letterCase];
  if (known !== undefined) return known;
  const table = new Uint8Array(65_536);
  const ofLetters = letterCase === 'ignored' ? letter : part;
  table.fill(ofLetters, 65, 91).fill(ofLetters, 97, 123);
  // Controls, surrogates, private and replacement characters.
  table.fill(garbled, 0, 9).fill(garbled, 14, 32).fill(garbled, 127, 160);
  table.fill(garbled, 0xd800, 0xf900).fill(garbled, 0xfff0);
  for (const [code, isSpace] of whiteSpaceTable().entries()) {
    if (isSpace === 1) table[code] = table[code] === garbled ? garbledSpace : space;
  }
  tables[letterCase] = table;
  return table;
}

/**
 * Reads texts in one pass over their characters, one text after the other: hashes of its chunks, and counts of its characters.
 *
 * A **chunk** is a run without white space. Of 100,000 chunks about one has the hash of another one.
 */
export class TextReader {
  readonly #kinds: Uint8Array;
  /** Hashes of the chunks. Shape: `[chunkCount]` and room. */
  chunks: Int32Array<ArrayBuffer> = new Int32Array(256);
  /** Chunks of the text that was read last. */
  chunkCount = 0;
  /** Characters, those between chunks, and those that are controls, surrogates, private or replacements. */
  characters: { readonly all: number; readonly spaces: number; readonly garbled: number } = {
    ...{ all: 0, spaces: 0, garbled: 0 },
  };

  /** @param letterCase - `'ignored'`: ASCII letters are compared without case. */
  constructor(letterCase: LetterCase) {
    this.#kinds = kindTable(letterCase);
  }

  /** Reads a text and forgets the one before. @returns This. */
  read(text: string): this {
    const { length } = text;
    const kindOf = this.#kinds;
    // Chunks have a character between them.
    const room = (length >> 1) + 1;
    const isRoomy = this.chunks.length > mostKept && room < mostKept;
    if (room > this.chunks.length || isRoomy) this.chunks = new Int32Array(2 ** Math.ceil(Math.log2(room)));
    const { chunks } = this;
    let [hash, chunkStart, count, further, garbled] = [emptyHash, 0, 0, 0, 0];
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      const kind = kindOf[code]!;
      if (kind >= kinds.garbled) garbled += 1;
      if (kind === kinds.space || kind === kinds.garbledSpace) {
        if (at > chunkStart) chunks[count++] = hash;
        else further += 1;
        [hash, chunkStart] = [emptyHash, at + 1];
        continue;
      }
      const small = kind === kinds.letter ? code | 32 : code;
      // FNV-1a, with a shift, because some words collide under every polynomial.
      hash = Math.imul(hash ^ small, 0x01000193);
      hash ^= hash >>> 15;
    }
    // A space ends a chunk or follows another one.
    const spaces = count + further;
    if (length > chunkStart) chunks[count++] = hash;
    this.chunkCount = count;
    this.characters = { all: length, spaces, garbled };
    return this;
  }

  /** Code points of a part of the text. */
  codePoints(part: string): number {
    // A text without garbled characters has no surrogates.
    if (this.characters.garbled === 0) return part.length;
    return part.length - (part.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
  }
}
