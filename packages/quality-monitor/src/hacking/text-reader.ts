import { emptyWord, letterHash } from './word-hash.ts';

// What a character is; others than ASCII are looked at one by one.
const letter = 1;
const digit = 2;
const space = 3;
const newline = 4;
const markup = 5;
const symbol = 6;
const control = 7;

const classes = new Uint8Array(128);
for (let code = 0; code < 128; code++) classes[code] = classOf(code);

function classOf(code: number): number {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_']/.test(character)) return letter;
  if (/[0-9]/.test(character)) return digit;
  if (character === '\n') return newline;
  if (/\s/.test(character)) return space;
  if ('<>#*|`{}[]\\~'.includes(character)) return markup;
  return code < 32 || code === 127 ? control : symbol;
}

/**
 * Reads a text's words and characters in one pass.
 *
 * A word is a run of letters and digits, in lower case, with any number in it as one digit: what differs only in its numbers
 * is the same. One reader serves any number of texts, one after the other.
 */
export class TextReader {
  /** Hashes of the words. Shape: `[count]` and room. */
  words: Int32Array<ArrayBuffer> = new Int32Array(1024);
  /** Letters of the words. Shape: `[count]` and room. */
  lengths: Uint16Array<ArrayBuffer> = new Uint16Array(1024);
  count = 0;
  characters = 0;
  /** Of `<>#*|` and the like. */
  markup = 0;
  /** Other punctuation. */
  symbols = 0;
  digits = 0;
  /** Lines that begin with a mark of lists, headings, tables or tags. */
  markedLines = 0;
  /** Beyond Latin with its accents, and common punctuation. */
  foreign = 0;
  /** Invisible, control and look-alike characters, and words of two scripts. */
  suspicious = 0;
  longestWord = 0;
  /** Longest run of one and the same character, space aside. */
  longestRun = 0;

  /** Words with Greek or Cyrillic letters, and whether the one that is read is such. */
  #otherWords = 0;
  #isOfOtherLetters = false;

  read(text: string): void {
    this.#reset(text.length);
    let previous = -1;
    let run = 1;
    let longest = 0;
    let atLineStart = true;
    let digits = 0;
    let hash = emptyWord;
    let letters = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const kind = code < 128 ? classes[code]! : 0;
      if (kind === letter) {
        hash = letterHash(hash, code | 32);
        letters += 1;
      } else if (kind === digit) {
        digits += 1;
        if (classes[previous] !== digit) {
          hash = letterHash(hash, 48);
          letters += 1;
        }
      } else if (kind === 0) {
        [hash, letters] = this.#unusual(code, previous, hash, letters);
      } else {
        if (letters > 0) this.#push(hash, letters);
        hash = emptyWord;
        letters = 0;
        if (kind === markup) this.markup += 1;
        else if (kind === symbol) this.symbols += 1;
        else if (kind === control) this.suspicious += 1;
      }
      if (code === previous && kind !== space) {
        run += 1;
        if (run > longest) longest = run;
      } else run = 1;
      if (atLineStart && kind !== space) {
        if (kind === markup || code === 45 || code === 43) this.markedLines += 1;
        atLineStart = false;
      }
      if (kind === newline) atLineStart = true;
      previous = code;
    }
    if (letters > 0) this.#push(hash, letters);
    // In a text that is not written in those letters, they stand for ours.
    if (4 * this.foreign < text.length) this.suspicious += this.#otherWords;
    this.digits = digits;
    this.longestRun = longest;
  }

  #reset(characters: number): void {
    this.count = 0;
    this.characters = characters;
    this.markup = 0;
    this.symbols = 0;
    this.digits = 0;
    this.markedLines = 0;
    this.foreign = 0;
    this.suspicious = 0;
    this.longestWord = 0;
    this.#otherWords = 0;
    this.#isOfOtherLetters = false;
  }

  /** Takes a character beyond ASCII; returns the word so far. */
  #unusual(code: number, previous: number, hash: number, letters: number): [number, number] {
    if (isInvisible(code) || (isCombining(code) && isCombining(previous))) {
      this.suspicious += 1;
      return [hash, letters];
    }
    if (code === 0xa0 || (code >= 0x2000 && code <= 0x200a) || code === 0x3000 || code === 0x85) {
      if (letters > 0) this.#push(hash, letters);
      return [emptyWord, 0];
    }
    if (code >= 0x2010 && code <= 0x205e) {
      this.symbols += 1;
      if (letters > 0) this.#push(hash, letters);
      return [emptyWord, 0];
    }
    if (code >= 0x250) this.foreign += 1;
    if (code >= 0x370 && code < 0x590) this.#isOfOtherLetters = true;
    else if ((code >= 0xff01 && code <= 0xff5e) || code === 0xd835) this.suspicious += 1;
    return [letterHash(hash, code), letters + 1];
  }

  #push(hash: number, letters: number): void {
    if (this.count === this.words.length) this.#grow();
    if (this.#isOfOtherLetters) this.#otherWords += 1;
    this.#isOfOtherLetters = false;
    this.words[this.count] = hash;
    this.lengths[this.count] = letters;
    this.count += 1;
    if (letters > this.longestWord) this.longestWord = letters;
  }

  #grow(): void {
    const [words, lengths] = [this.words, this.lengths];
    this.words = new Int32Array(2 * words.length);
    this.words.set(words);
    this.lengths = new Uint16Array(2 * lengths.length);
    this.lengths.set(lengths);
  }
}

/** Shows nothing, or nothing of its own: zero-width, direction, soft hyphen, tags, variations, private use, C1 controls. */
function isInvisible(code: number): boolean {
  return (
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xfe00 && code <= 0xfe0e) ||
    (code >= 0xe000 && code <= 0xf8ff) ||
    (code >= 0xfff0 && code <= 0xffff) ||
    (code >= 0x80 && code <= 0x9f && code !== 0x85) ||
    [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x3164, 0xfeff, 0xffa0, 0xdb40].includes(
      code,
    )
  );
}

function isCombining(code: number): boolean {
  return code >= 0x300 && code <= 0x36f;
}
