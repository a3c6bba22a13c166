import { bins, countBin, shareBin, sizeBin, traitIndex } from './traits.ts';

/** Slots of the tables of phrases: pairs of characters by their own numbers, the rest by hashes. */
export const slotCount = 2 ** 16;
/** First slots of words, of pairs of their shapes and of pairs of words. */
const [firstWord, firstShapePair, firstWordPair] = [2 ** 14, 7 * 2 ** 12, 2 ** 15];
/** Begins pairs that no text has, because it is a control character, and words that begin and end a text. */
const [alone, beginning, end] = [127, 1, 2];
/** Shapes of words. 1 to 3 are lengths, 4 has a capital, 5 is the word before again, and other characters have their own from 6 on. */
const [capital, again, other] = [4, 5, 6];

/** Nats that a phrase gains because it is one of few: a single character, or a pair of shapes. */
export const rarityOf = (slot: number) =>
  slot >> 7 === alone || slot >> 12 === firstShapePair >> 12 ? 2 : 0;

/**
 * Reads texts in one pass. Lists their phrases: characters, words, pairs of either, and pairs of shapes of words.
 *
 * All digits count as one character. A run of digits is a word. Every other character that is not a letter is a word too, except single blanks.
 */
export class TextMeasures {
  /** Different phrases of each text of the batch, one text after the other. */
  #slots = new Uint16Array(2 ** 16);
  /** First phrase of the text that was read last, and the end of its phrases. */
  #start = 0;
  #end = 0;
  /** Hash of the text that was read last. */
  hash = 0;
  readonly #seenIn = new Uint32Array(slotCount);
  readonly #askedIn = new Uint32Array(slotCount);
  #text = 0;
  #prompt = 0;
  #promptText: string | undefined;
  /** Last word and its shape, words of the text, different pairs of them, and those that the prompt has too. */
  #word = 0;
  #shape = 0;
  #words = 0;
  #wordPairs = 0;
  #copied = 0;

  beginBatch(): void {
    [this.#start, this.#end] = [0, 0];
  }

  /** Reads the prompt of the next responses. */
  readPrompt(prompt: string): void {
    if (prompt === this.#promptText) return;
    this.#promptText = prompt;
    this.#scan(prompt);
    this.#prompt += 1;
    for (let at = this.#start; at < this.#end; at++) this.#askedIn[this.#slots[at]!] = this.#prompt;
    this.#end = this.#start;
  }

  /** Reads a response and fills in its row. @returns Its phrases. Valid until the next batch. */
  read(text: string, row: Uint8Array): Uint16Array {
    const lines = this.#scan(text);
    row[traitIndex.length] = sizeBin(text.length);
    row[traitIndex.brevity] = bins - 1 - sizeBin(text.length);
    row[traitIndex.lines] = countBin(lines);
    row[traitIndex.repetition] = shareBin(1 - this.#wordPairs / this.#words);
    row[traitIndex.copying] = shareBin(this.#copied / Math.max(10, this.#wordPairs));
    const slots = this.#slots.subarray(this.#start, this.#end);
    this.#start = this.#end;
    return slots;
  }

  /** Gathers the different phrases. @returns Number of line breaks. */
  #scan(text: string): number {
    const { length } = text;
    const needed = this.#start + 6 * length + 16;
    if (needed > this.#slots.length) {
      const larger = new Uint16Array(2 * needed);
      larger.set(this.#slots.subarray(0, this.#start));
      this.#slots = larger;
    }
    this.#text += 1;
    this.#end = this.#start;
    [this.#word, this.#shape, this.#words, this.#wordPairs, this.#copied] = [beginning, beginning, 0, 0, 0];
    // The last character, and the word that it may belong to.
    let [before, start, word, whole, lines] = [10, 0, 0, 0, 0];
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      whole = Math.imul(whole, 31) + code;
      if (code === 10) lines += 1;
      const kind = code >= 128 ? 14 + (code & 15) : code >= 48 && code <= 57 ? 48 : code;
      if (this.#add((before << 7) | kind)) this.#add((alone << 7) | kind);
      if (isLetter(code)) word = Math.imul(word, 31) + code;
      else {
        if (at > start) this.#addWord(word, shapeOf(text.charCodeAt(start), at - start));
        [start, word] = [at + 1, 0];
        // Of digits the first counts, of blanks the second and later ones.
        const isSame = kind === before;
        if (kind === 48 ? !isSame : code !== 32 || isSame)
          this.#addWord(code < 128 ? kind : code, other + kind);
      }
      before = kind;
    }
    if (length > start) this.#addWord(word, shapeOf(text.charCodeAt(start), length - start));
    this.#addWord(end, 0);
    this.hash = whole | 0;
    return lines;
  }

  #addWord(word: number, own: number): void {
    const shape = own < again && word === this.#word ? again : own;
    this.#words += 1;
    this.#add(firstWord + ((3 * hashed(word, 14)) >>> 2));
    this.#add(firstShapePair + hashed(Math.imul(this.#shape + 501, 0x2545f) + shape, 12));
    const pair = firstWordPair + hashed(Math.imul(this.#word, 0x01000193) + word, 15);
    if (this.#add(pair)) {
      this.#wordPairs += 1;
      if (this.#askedIn[pair] === this.#prompt) this.#copied += 1;
    }
    [this.#word, this.#shape] = [word, shape];
  }

  /** @returns Whether the text had not had this phrase. */
  #add(slot: number): boolean {
    if (this.#seenIn[slot] === this.#text) return false;
    this.#seenIn[slot] = this.#text;
    this.#slots[this.#end++] = slot;
    return true;
  }
}

function hashed(value: number, bits: number): number {
  return Math.imul(value, 0x9e3779b1) >>> (32 - bits);
}

/** Whether a character is part of a word. Where words are not separated, each character is one. */
function isLetter(code: number): boolean {
  const lower = code | 32;
  if (code < 0xc0) return lower >= 97 && lower <= 122;
  return code < 0x2000 || (code > 0x2bff && code < 0x2e80);
}

function shapeOf(first: number, length: number): number {
  if (first < 97) return capital;
  return length < 4 ? 1 : length < 7 ? 2 : 3;
}
