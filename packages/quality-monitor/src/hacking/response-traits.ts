import { ReadText } from '../text/read-text.ts';
import type { TextReader } from '../text/text-reader.ts';
import { pairHash } from '../text/word-hash.ts';
import { familiesOf, family } from './families.ts';
import { countOwn, isCounted, OwnCounts } from './own-counts.ts';
import type { PhraseWindow } from './phrase-window.ts';
import { countBin, shareBin, sizeBin, traitIndex, unknown } from './signals.ts';

/** Replaces words that hardly any other response has, mostly names. */
const anyRareWord = 1;
/** Least letters of a content word. */
const contentLetters = 5;

/** Extracts the traits of a response's text, in bins. */
export class TextTraits {
  readonly #reader: TextReader;
  readonly #prompt = new OwnCounts();
  readonly #promptPairs = new OwnCounts();
  readonly #ownWords = new OwnCounts();
  readonly #ownTriples = new OwnCounts();
  #promptText: string | undefined;
  readonly #promptRead = new ReadText();
  /** For each word of the text: the pair that it ends, and its earlier occurrences. */
  #pairs = new Int32Array(1024);
  #before = new Uint16Array(1024);
  /** 1 for a word of the prompt, 2 if the pair is in the prompt too. */
  #asked = new Uint8Array(1024);
  /** The word, or a placeholder for rare words. */
  #masked = new Int32Array(1024);

  /** @param reader - Reads prompts. */
  constructor(reader: TextReader) {
    this.#reader = reader;
  }

  /** Reads the prompt of the next responses. */
  readPrompt(prompt: string): void {
    if (prompt === this.#promptText) return;
    this.#promptText = prompt;
    this.#prompt.clear();
    this.#promptPairs.clear();
    const { words, wordCount } = this.#reader.read(prompt, this.#promptRead);
    let before = 0;
    for (let at = 0; at < wordCount; at++) {
      const word = words[at]!;
      countOwn(this.#prompt.entries, this.#prompt.stamp, word);
      countOwn(this.#promptPairs.entries, this.#promptPairs.stamp, pairHash(before, word));
      before = word;
    }
  }

  /** Fills in the traits of a text and counts its phrases. Call `phrases.beginResponse` first. */
  read(text: ReadText, phrases: PhraseWindow, row: Uint8Array): void {
    this.#makeRoom(text.wordCount);
    this.#fillOwn(text, row);
    this.#fillPrompted(text, row);
    this.#fillTrends(text, phrases, row);
    this.#fillTemplate(text, phrases, row);
    fillShape(text, row);
  }

  // Each group of traits has its own loop, short enough for the compiler. Branches on words are avoided as unpredictable.

  /** Repetition within the text. */
  #fillOwn({ words, lengths, wordCount }: ReadText, row: Uint8Array): void {
    const pairs = this.#pairs;
    const before = this.#before;
    this.#ownWords.clear();
    this.#ownTriples.clear();
    const { entries: own, stamp } = this.#ownWords;
    const { entries: triples, stamp: triplesStamp } = this.#ownTriples;
    let last = 0;
    let secondLast = 0;
    let repeated = 0;
    let mostFrequent = 0;
    let mostTriples = 0;
    for (let at = 0; at < wordCount; at++) {
      const word = words[at]!;
      const pair = pairHash(last, word);
      pairs[at] = pair;
      const again = countOwn(triples, triplesStamp, pairHash(pair, secondLast));
      repeated += -again >>> 31;
      if (again > mostTriples) mostTriples = again;
      const often = countOwn(own, stamp, word);
      before[at] = often;
      if (often >= mostFrequent && lengths[at]! >= contentLetters) mostFrequent = often + 1;
      secondLast = last;
      last = word;
    }
    row[traitIndex.repetition] = shareBin(repeated / Math.max(1, wordCount));
    row[traitIndex.loops] = countBin(mostTriples);
    row[traitIndex.stuffed_word] = shareBin(mostFrequent < 4 ? 0 : mostFrequent / Math.max(20, wordCount));
  }

  /** Copies of the prompt, and lexical families beyond the prompt. */
  #fillPrompted({ words, wordCount, characters }: ReadText, row: Uint8Array): void {
    const pairs = this.#pairs;
    const asked = this.#asked;
    let copied = 0;
    let exploit = 0;
    let flattery = 0;
    let hedging = 0;
    const { entries: prompt, stamp } = this.#prompt;
    const { entries: promptPairs, stamp: pairsStamp } = this.#promptPairs;
    for (let at = 0; at < wordCount; at++) {
      const word = words[at]!;
      const isAsked = isCounted(prompt, stamp, word);
      const isCopied = isAsked & isCounted(promptPairs, pairsStamp, pairs[at]!);
      asked[at] = isAsked + isCopied;
      copied += isCopied;
      const families = familiesOf(word);
      if (families === 0 || isAsked === 1) continue;
      if ((families & family.exploit) !== 0) exploit += 1;
      if ((families & family.flattery) !== 0) flattery += 1;
      if ((families & family.hedging) !== 0) hedging += 1;
    }
    row[traitIndex.copying] = shareBin(copied / Math.max(5, wordCount));
    row[traitIndex.exploit] = countBin(exploit + characters.calls);
    row[traitIndex.flattery] = countBin(flattery);
    row[traitIndex.hedging] = countBin(hedging);
  }

  /** Words and pairs that recent responses share. */
  #fillTrends({ words, wordCount }: ReadText, phrases: PhraseWindow, row: Uint8Array): void {
    const pairs = this.#pairs;
    const before = this.#before;
    const asked = this.#asked;
    const masked = this.#masked;
    let trending = 0;
    for (let at = 0; at < wordCount; at++) {
      const word = words[at]!;
      const slot = phrases.slotOf(word);
      const pairSlot = phrases.slotOf(pairs[at]!);
      const lately = phrases.count(slot);
      const pairLately = phrases.count(pairSlot);
      if (phrases.maySurprise(slot, lately) && before[at] === 0 && asked[at] === 0) {
        trending += phrases.surprise(slot, lately);
      }
      if (phrases.maySurprise(pairSlot, pairLately) && before[at] === 0 && asked[at] !== 2) {
        trending += phrases.surprise(pairSlot, pairLately);
      }
      const isRare = (lately - 2) >> 31;
      masked[at] = (word & ~isRare) | (anyRareWord & isRare);
    }
    row[traitIndex.trending_phrases] = phrases.isReady ? sizeBin(trending) : unknown;
  }

  /** Triples that recent responses share, names masked. */
  #fillTemplate({ wordCount }: ReadText, phrases: PhraseWindow, row: Uint8Array): void {
    const masked = this.#masked;
    let last = 0;
    let secondLast = 0;
    let familiar = 0;
    for (let at = 0; at < wordCount; at++) {
      const triple = pairHash(pairHash(secondLast, last), masked[at]!);
      familiar += (1 - phrases.countTemplate(triple)) >>> 31;
      secondLast = last;
      last = masked[at]!;
    }
    row[traitIndex.template] = phrases.isReady ? shareBin(familiar / Math.max(5, wordCount)) : unknown;
  }

  #makeRoom(words: number): void {
    if (words <= this.#pairs.length) return;
    this.#pairs = new Int32Array(2 * words);
    this.#before = new Uint16Array(2 * words);
    this.#asked = new Uint8Array(2 * words);
    this.#masked = new Int32Array(2 * words);
  }
}

function fillShape({ wordCount, longestWord, characters }: ReadText, row: Uint8Array): void {
  const most = Math.max(20, characters.all);
  row[traitIndex.length] = sizeBin(wordCount);
  row[traitIndex.brevity] = 63 - sizeBin(wordCount);
  row[traitIndex.long_words] = sizeBin(longestWord);
  row[traitIndex.character_runs] = sizeBin(characters.longestRun);
  row[traitIndex.markup] = shareBin(characters.markup / most);
  row[traitIndex.structure] = countBin(characters.markedLines);
  row[traitIndex.symbols] = shareBin(characters.symbols / most);
  row[traitIndex.digits] = shareBin(characters.digits / most);
  row[traitIndex.unicode] = countBin(characters.suspicious);
  row[traitIndex.foreign] = shareBin(characters.foreign / most);
}
