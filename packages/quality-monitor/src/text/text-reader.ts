import { characterKinds, kindTable } from './characters.ts';

/** Hashes of no characters. */
const [emptyLow, emptyHigh] = [0x811c9dc5 | 0, 0x9e3779b9 | 0];

/**
 * Hashes of a text's chunks, and counts of its characters.
 *
 * A **chunk** is a run without white space. ASCII letters are compared without case.
 */
export class ReadText {
  /** Hashes of the chunks, in two halves. Shape: `[chunkCount]` and room. */
  low: Int32Array<ArrayBuffer> = new Int32Array(256);
  high: Int32Array<ArrayBuffer> = new Int32Array(256);
  chunkCount = 0;
  /** Characters, and those of them that are controls, surrogates, private or replacements. */
  characters: { readonly all: number; readonly garbled: number } = { all: 0, garbled: 0 };

  /** Clears the text and makes room for chunks. */
  clear(room: number): void {
    this.chunkCount = 0;
    if (room <= this.low.length) return;
    const enough = 2 ** Math.ceil(Math.log2(room));
    this.low = new Int32Array(enough);
    this.high = new Int32Array(enough);
  }

  addChunk(low: number, high: number): void {
    this.low[this.chunkCount] = low;
    this.high[this.chunkCount] = high;
    this.chunkCount += 1;
  }
}

/** Reads texts in one pass over their characters. The object is reused. */
export class TextReader {
  readonly #kinds = kindTable();
  /** Room for the different texts of a batch. */
  readonly #room: ReadText[] = [];

  /** Reads a batch. Equal texts share one object. The result is valid until the next call. */
  readAll(texts: readonly string[]): readonly ReadText[] {
    const known = new Map<string, ReadText>();
    const all = texts.map((text) => {
      const found = known.get(text);
      if (found !== undefined) return found;
      const read = this.read(text, this.#room[known.size]);
      this.#room[known.size] = read;
      known.set(text, read);
      return read;
    });
    this.#room.length = Math.min(this.#room.length, texts.length);
    return all;
  }

  /** @param into - Cleared and filled. */
  read(text: string, into: ReadText = new ReadText()): ReadText {
    const { length } = text;
    const kinds = this.#kinds;
    // Chunks have a character between them.
    into.clear((length >> 1) + 1);
    let [low, high, chunkStart, garbled] = [emptyLow, emptyHigh, 0, 0];
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      const kind = kinds[code]!;
      if (kind >= characterKinds.garbled) garbled += 1;
      if (kind === characterKinds.space || kind === characterKinds.garbledSpace) {
        if (at > chunkStart) into.addChunk(low, high);
        [low, high, chunkStart] = [emptyLow, emptyHigh, at + 1];
        continue;
      }
      const small = kind === characterKinds.letter ? code | 32 : code;
      // FNV-1a, and a second hash that is independent of it.
      low = Math.imul(low ^ small, 0x01000193);
      high = Math.imul(high + small, 0x85ebca6b) ^ (high >>> 13);
    }
    if (length > chunkStart) into.addChunk(low, high);
    into.characters = { all: length, garbled };
    return into;
  }
}
