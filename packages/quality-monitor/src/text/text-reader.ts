import { isGarbled, isSpace } from './characters.ts';
import { ReadText } from './read-text.ts';

/** Hashes of no characters. */
const [emptyLow, emptyHigh] = [0x811c9dc5 | 0, 0x9e3779b9 | 0];

/** What a character is: part of a chunk, an ASCII letter, white space, or garbled. */
const kinds = { part: 0, letter: 1, space: 2, garbled: 3, garbledSpace: 4 } as const;
const asciiKinds: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => kindOf(code));

function kindOf(code: number): number {
  if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)) return kinds.letter;
  if (isSpace(code)) return isGarbled(code) ? kinds.garbledSpace : kinds.space;
  return isGarbled(code) ? kinds.garbled : kinds.part;
}

/** Reads texts in one pass over their characters. The object is reused. */
export class TextReader {
  /** Room for the different texts of a batch. */
  readonly #room: ReadText[] = [];

  /** Reads a batch. Equal texts share one object. The result is valid until the next call. */
  readAll(texts: readonly string[]): readonly ReadText[] {
    const known = new Map<string, ReadText>();
    const all = texts.map((text) => {
      let found = known.get(text);
      if (found === undefined) {
        found = this.read(text, this.#room[known.size]);
        this.#room[known.size] = found;
        known.set(text, found);
      }
      return found;
    });
    this.#room.length = Math.min(this.#room.length, texts.length);
    return all;
  }

  /** @param into - Cleared and filled. */
  read(text: string, into: ReadText = new ReadText()): ReadText {
    const { length } = text;
    // Chunks have a character between them.
    into.clear((length >> 1) + 1);
    let [low, high, chunkStart, garbled] = [emptyLow, emptyHigh, 0, 0];
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      const kind = code < 128 ? asciiKinds[code]! : kindOf(code);
      if (kind >= kinds.garbled) garbled += 1;
      if (kind === kinds.space || kind === kinds.garbledSpace) {
        if (at > chunkStart) into.addChunk(low, high);
        [low, high, chunkStart] = [emptyLow, emptyHigh, at + 1];
        continue;
      }
      const small = kind === kinds.letter ? code | 32 : code;
      // FNV-1a, and a second hash that is independent of it.
      low = Math.imul(low ^ small, 0x01000193);
      high = Math.imul(high + small, 0x85ebca6b) ^ (high >>> 13);
    }
    if (length > chunkStart) into.addChunk(low, high);
    into.characters = { all: length, garbled };
    return into;
  }
}
