import { emptyWord, letterHash } from './word-hash.ts';

/** Counts of a text's characters. */
export interface CharacterCounts {
  readonly all: number;
  /** Controls, replacement and private characters, and surrogates. */
  readonly garbled: number;
  /** `<>#*|` and similar. */
  readonly markup: number;
  /** Other punctuation. */
  readonly symbols: number;
  readonly digits: number;
  /** Beyond Latin with its accents, and common punctuation. */
  readonly foreign: number;
  /** Invisible, control and look-alike characters, and words of two scripts. */
  readonly suspicious: number;
  /** Lines that begin with a mark of a list, heading, table or tag. */
  readonly markedLines: number;
  /** Occurrences of `name(` and `name.name`. */
  readonly calls: number;
  /** Longest run of one character other than space. */
  readonly longestRun: number;
}

/**
 * Hashes of a text's words and chunks, and counts of its characters.
 *
 * - A **word** is a run of letters and digits in lower case. Numbers count as one digit, so texts that differ in numbers are equal.
 * - A **chunk** is a run without white space. ASCII letters are compared without case.
 */
export class ReadText {
  /** Hashes of the words. Shape: `[wordCount]` and room. */
  words: Int32Array<ArrayBuffer> = new Int32Array(256);
  /** Letters of the words. Shape: `[wordCount]` and room. */
  lengths: Uint16Array<ArrayBuffer> = new Uint16Array(256);
  wordCount = 0;
  longestWord = 0;
  /** Hashes of the chunks, in two halves. Shape: `[chunkCount]` and room. */
  low: Int32Array<ArrayBuffer> = new Int32Array(256);
  high: Int32Array<ArrayBuffer> = new Int32Array(256);
  chunkCount = 0;
  characters: CharacterCounts = nothing;

  /** Clears the text and makes room for words and chunks. */
  clear(room: number): void {
    this.wordCount = 0;
    this.longestWord = 0;
    this.chunkCount = 0;
    if (room <= this.words.length) return;
    const enough = 2 ** Math.ceil(Math.log2(room));
    this.words = new Int32Array(enough);
    this.lengths = new Uint16Array(enough);
    this.low = new Int32Array(enough);
    this.high = new Int32Array(enough);
  }

  /** Hash of the chunks in their order. */
  hash(): number {
    let hash = emptyWord;
    for (let at = 0; at < this.chunkCount; at++) hash = letterHash(hash, this.low[at]!);
    return hash;
  }

  addWord(hash: number, letters: number): void {
    this.words[this.wordCount] = hash;
    this.lengths[this.wordCount] = letters;
    this.wordCount += 1;
    if (letters > this.longestWord) this.longestWord = letters;
  }

  addChunk(low: number, high: number): void {
    this.low[this.chunkCount] = low;
    this.high[this.chunkCount] = high;
    this.chunkCount += 1;
  }
}

const nothing: CharacterCounts = {
  all: 0,
  garbled: 0,
  markup: 0,
  symbols: 0,
  digits: 0,
  foreign: 0,
  suspicious: 0,
  markedLines: 0,
  calls: 0,
  longestRun: 0,
};
