import { asciiKinds, isGarbled, isUnusualSpace, kinds, unusualKind } from './characters.ts';
import { type CharacterCounts, ReadText } from './read-text.ts';
import { emptyWord, letterHash } from './word-hash.ts';

const { letter, space, newline, separator, markup, symbol, control, digit, underscore, unusual, hidden } =
  kinds;
const emptyHigh = 0x9e3779b9 | 0;

/** Reads texts in one pass over their characters. The object is reused. */
export class TextReader {
  readonly #encoder = new TextEncoder();
  #bytes = new Uint8Array(4096);
  #codes = new Uint16Array(4096);
  /** Characters of each kind. */
  readonly #counts = new Int32Array(unusual + 1);
  #garbled = 0;
  #foreign = 0;
  #suspicious = 0;
  /** Words with Greek or Cyrillic letters, and whether the current word is one. */
  #otherWords = 0;
  #isOfOtherLetters = false;
  #markedLines = 0;
  #calls = 0;
  /** Length of the current run of one character. */
  #run = 0;
  #longestRun = 0;
  #repeatedAt = -1;
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
    const codes = this.#codesOf(text);
    // Words and chunks have a character between them.
    into.clear((length >> 1) + 1);
    this.#begin();
    this.#markedLines = markAt(codes, 0);
    let hash = emptyWord;
    let letters = 0;
    let low = emptyWord;
    let high = emptyHigh;
    let chunkStart = 0;
    let previous = -1;
    // The space that ends the codes ends the last word.
    for (let at = 0; at <= length; at++) {
      const start = at;
      let code = codes[at]!;
      // Fast path for letters that differ from the one before, with `letterHash` and `highHash` inlined.
      while (code !== previous && code < 128 && asciiKinds[code] === letter) {
        previous = code;
        const small = code | 32;
        hash = Math.imul(hash ^ small, 0x01000193);
        low = Math.imul(low ^ small, 0x01000193);
        high = Math.imul(high + small, 0x85ebca6b) ^ (high >>> 13);
        at += 1;
        code = codes[at]!;
      }
      letters += at - start;
      const kind = code < 128 ? asciiKinds[code]! : unusual;
      const role = kind === space ? space : this.#rare(codes, at, kind);
      if (role === letter) {
        const small = kind === letter ? code | 32 : code;
        hash = letterHash(hash, small);
        letters += 1;
      } else if (role === digit || role === underscore) {
        hash = letterHash(hash, role === digit ? 48 : 127);
        letters += 1;
      } else if (role !== hidden) {
        if (letters > 0) this.#endWord(into, hash, letters);
        hash = emptyWord;
        letters = 0;
      }
      if (kind === unusual ? isUnusualSpace(code) : kind <= separator) {
        if (at > chunkStart) into.addChunk(low, high);
        low = emptyWord;
        high = emptyHigh;
        chunkStart = at + 1;
      } else {
        const small = kind === letter ? code | 32 : code;
        low = letterHash(low, small);
        high = highHash(high, small);
      }
      previous = code;
    }
    into.characters = this.#counted(length);
    return into;
  }

  /** Counts any other character. @returns Its role in a word. */
  #rare(codes: Uint16Array, at: number, kind: number): number {
    const code = codes[at]!;
    const previous = at > 0 ? codes[at - 1]! : -1;
    if (code === previous) {
      this.#run = this.#repeatedAt === at - 1 ? this.#run + 1 : 2;
      this.#repeatedAt = at;
      this.#longestRun = Math.max(this.#longestRun, this.#run);
    }
    this.#counts[kind]! += 1;
    if (kind === newline) this.#markedLines += markAt(codes, at + 1);
    else if (code === 40 || code === 46) this.#calls += callAt(codes, at);
    // A number is one digit.
    if (kind === digit && previous >= 48 && previous <= 57) return hidden;
    if (kind !== unusual) return kind;
    // Between ASCII letters it looks like a plain space.
    if (isUnusualSpace(code) && isLetter(previous) && isLetter(codes[at + 1])) this.#suspicious += 1;
    return this.#unusual(code, previous);
  }

  /** The text's UTF-16 units, a space and a newline. Shape: `[text.length + 2]` or longer. Valid until the next call. */
  #codesOf(text: string): Uint16Array {
    const { length } = text;
    if (length + 2 > this.#codes.length) {
      this.#bytes = new Uint8Array(2 * length);
      this.#codes = new Uint16Array(2 * length);
    }
    const { read, written } = this.#encoder.encodeInto(text, this.#bytes);
    // One byte per unit means ASCII, the fastest case.
    if (read === length && written === length) this.#codes.set(this.#bytes.subarray(0, length));
    else for (let at = 0; at < length; at++) this.#codes[at] = text.charCodeAt(at);
    this.#codes[length] = 32;
    this.#codes[length + 1] = 10;
    return this.#codes;
  }

  #begin(): void {
    this.#counts.fill(0);
    this.#garbled = 0;
    this.#foreign = 0;
    this.#suspicious = 0;
    this.#otherWords = 0;
    this.#isOfOtherLetters = false;
    this.#calls = 0;
    this.#run = 0;
    this.#longestRun = 0;
    this.#repeatedAt = -1;
  }

  /** Counts a character beyond ASCII. @returns Its role in a word, see {@link unusualKind}. */
  #unusual(code: number, previous: number): number {
    const kind = unusualKind(code, previous);
    if (isGarbled(code)) this.#garbled += 1;
    if (kind === hidden) this.#suspicious += 1;
    else if (kind === symbol) this.#counts[symbol]! += 1;
    if (kind !== letter) return kind;
    if (code >= 0x250) this.#foreign += 1;
    if (code >= 0x370 && code < 0x590) this.#isOfOtherLetters = true;
    else if ((code >= 0xff01 && code <= 0xff5e) || code === 0xd835) this.#suspicious += 1;
    return kind;
  }

  #endWord(into: ReadText, hash: number, letters: number): void {
    into.addWord(hash, letters);
    if (this.#isOfOtherLetters) this.#otherWords += 1;
    this.#isOfOtherLetters = false;
  }

  #counted(all: number): CharacterCounts {
    const counts = this.#counts;
    const controls = counts[control]! + counts[separator]!;
    // In a Latin text these letters imitate Latin ones.
    const lookAlike = 4 * this.#foreign < all ? this.#otherWords : 0;
    return {
      all,
      garbled: this.#garbled + controls,
      markup: counts[markup]!,
      symbols: counts[symbol]!,
      digits: counts[digit]!,
      foreign: this.#foreign,
      suspicious: this.#suspicious + controls + lookAlike,
      markedLines: this.#markedLines,
      calls: this.#calls,
      longestRun: this.#longestRun,
    };
  }
}

/** A step of a second hash, independent of `letterHash`. */
function highHash(hash: number, letter: number): number {
  return Math.imul(hash + letter, 0x85ebca6b) ^ (hash >>> 13);
}

/** 1 if a line begins, after spaces, with a mark of a list, heading, table or tag. Else 0. */
function markAt(codes: Uint16Array, start: number): 0 | 1 {
  let at = start;
  while (asciiKinds[codes[at]!] === space) at += 1;
  const code = codes[at]!;
  return asciiKinds[code] === markup || code === 45 || code === 43 ? 1 : 0;
}

/** 1 for a parenthesis after a letter, or a dot between letters. Else 0. */
function callAt(codes: Uint16Array, at: number): 0 | 1 {
  return isLetter(codes[at - 1]) && (codes[at] === 40 || isLetter(codes[at + 1])) ? 1 : 0;
}

/** Of ASCII. */
function isLetter(code: number | undefined): boolean {
  return code !== undefined && asciiKinds[code] === letter;
}
