import { characterKinds, kindTable } from './characters.ts';

/** Hash of no characters. */
const emptyHash = 0x811c9dc5 | 0;

/**
 * Hashes of a text's chunks, and counts of its characters.
 *
 * A **chunk** is a run without white space. ASCII letters are compared without case.
 */
export class ReadText {
  /** Hashes of the chunks. Shape: `[chunkCount]` and room. */
  chunks: Int32Array<ArrayBuffer> = new Int32Array(256);
  chunkCount = 0;
  /** Characters, and those of them that are controls, surrogates, private or replacements. */
  characters: { readonly all: number; readonly garbled: number } = { all: 0, garbled: 0 };

  /** Clears the text and makes room for chunks. */
  clear(room: number): void {
    this.chunkCount = 0;
    if (room > this.chunks.length) this.chunks = new Int32Array(2 ** Math.ceil(Math.log2(room)));
  }

  addChunk(hash: number): void {
    this.chunks[this.chunkCount] = hash;
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
    let [hash, chunkStart, garbled] = [emptyHash, 0, 0];
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      const kind = kinds[code]!;
      if (kind >= characterKinds.garbled) garbled += 1;
      if (kind === characterKinds.space || kind === characterKinds.garbledSpace) {
        if (at > chunkStart) into.addChunk(hash);
        [hash, chunkStart] = [emptyHash, at + 1];
        continue;
      }
      const small = kind === characterKinds.letter ? code | 32 : code;
      // FNV-1a.
      hash = Math.imul(hash ^ small, 0x01000193);
    }
    if (length > chunkStart) into.addChunk(hash);
    into.characters = { all: length, garbled };
    return into;
  }
}
