import { bins, countBin, shareBin, sizeBin, traitIndex, unknown } from './traits.ts';

/** Slots of the tables of character sequences. */
export const slotCount = 2 ** 16;

/** Characters of a sequence. */
const reach = 5;
const factor = 0x01000193;
/** `factor` to the power of `reach`, to take the oldest character out of a rolling hash. */
const oldest = Array.from({ length: reach }).reduce<number>((power) => Math.imul(power, factor), 1);

const kinds = { lower: 0, upper: 1, digit: 2, space: 3, symbol: 4 } as const;
const asciiKinds: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return kinds.lower;
  if (/[A-Z]/.test(character)) return kinds.upper;
  if (/[0-9]/.test(character)) return kinds.digit;
  return /\s/.test(character) ? kinds.space : kinds.symbol;
});

/** What a text is compared with. */
export interface Surroundings {
  /** Recent tasks with each slot. Shape: `[slotCount]`. */
  readonly recent: Uint16Array;
  /** Nats of surprise by slot, in units of 1/4. Shapes: `[slotCount]`. */
  readonly surprises: Uint8Array | undefined;
  readonly surprisesSinceStart: Uint8Array | undefined;
}

/**
 * Reads texts in one pass. Measures their characters and the sequences of five characters in them, with case and spaces.
 *
 * Digits count as one character. Every second sequence is left out, chosen by its hash, so equal passages have equal sequences.
 */
export class TextMeasures {
  /** Different sequences of each text of the batch, one text after the other. */
  #slots = new Uint16Array(2 ** 16);
  /** First sequence of the text that was read last, and the end of its sequences. */
  #start = 0;
  #end = 0;
  /** Hash of the text that was read last. */
  hash = 0;
  readonly #seenIn = new Uint32Array(slotCount);
  readonly #askedIn = new Uint32Array(slotCount);
  #text = 0;
  #prompt = 0;
  #promptText: string | undefined;
  readonly #counts = new Uint32Array(5);

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

  /** Reads a response and fills in its row. @returns Its sequences. Valid until the next batch. */
  read(text: string, surroundings: Surroundings, row: Uint8Array): Uint16Array {
    const { lines, unusual, sequences } = this.#scan(text);
    const { length } = text;
    const counts = this.#counts;
    const all = Math.max(20, length);
    row[traitIndex.length] = sizeBin(length);
    row[traitIndex.brevity] = bins - 1 - sizeBin(length);
    row[traitIndex.lines] = countBin(lines);
    row[traitIndex.unusual_characters] = shareBin(unusual / all);
    const letters = Math.max(1, counts[kinds.lower]! + counts[kinds.upper]!);
    row[traitIndex.capitals] = shareBin(counts[kinds.upper]! / Math.max(20, letters));
    row[traitIndex.few_capitals] = bins - 1 - row[traitIndex.capitals]!;
    row[traitIndex.symbols] = shareBin(counts[kinds.symbol]! / all);
    row[traitIndex.digits] = shareBin(counts[kinds.digit]! / all);
    row[traitIndex.white_space] = shareBin(counts[kinds.space]! / all);
    row[traitIndex.little_white_space] = bins - 1 - row[traitIndex.white_space]!;
    this.#compare(surroundings, sequences, row);
    const slots = this.#slots.subarray(this.#start, this.#end);
    this.#start = this.#end;
    return slots;
  }

  /** Fills in what the sequences tell. */
  #compare(
    { recent, surprises, surprisesSinceStart }: Surroundings,
    sequences: number,
    row: Uint8Array,
  ): void {
    const slots = this.#slots;
    const used = this.#end - this.#start;
    const [asked, prompt] = [this.#askedIn, this.#prompt];
    let [copied, unseen, nats, natsSinceStart] = [0, 0, 0, 0];
    for (let at = this.#start; at < this.#end; at++) {
      const slot = slots[at]!;
      if (asked[slot] === prompt) copied += 1;
      else {
        if (recent[slot] === 0) unseen += 1;
        if (surprises !== undefined) nats += surprises[slot]!;
        if (surprisesSinceStart !== undefined) natsSinceStart += surprisesSinceStart[slot]!;
      }
    }
    const share = unseen / Math.max(1, used - copied);
    row[traitIndex.repetition] = shareBin(1 - used / Math.max(1, sequences));
    row[traitIndex.copying] = shareBin(copied / Math.max(10, used));
    const isComparable = surprises !== undefined && used > copied;
    row[traitIndex.unfamiliar] = isComparable ? Math.round((bins - 1) * share) : unknown;
    row[traitIndex.new_phrases] = surprises === undefined ? unknown : sizeBin(nats / 4);
    row[traitIndex.phrases_since_start] =
      surprisesSinceStart === undefined ? unknown : sizeBin(natsSinceStart / 4);
  }

  #roomFor(more: number): Uint16Array {
    if (this.#slots.length >= this.#start + more) return this.#slots;
    const larger = new Uint16Array(2 * (this.#start + more));
    larger.set(this.#slots.subarray(0, this.#start));
    this.#slots = larger;
    return larger;
  }

  /** Counts characters and gathers the different sequences. */
  #scan(text: string) {
    const { length } = text;
    const slots = this.#roomFor(length);
    const counts = this.#counts.fill(0);
    const seen = this.#seenIn;
    const stamp = ++this.#text;
    let [end, sequences, lines, unusual, rolling, whole] = [this.#start, 0, 0, 0, 0, 0];
    // The last characters, the newest first.
    let [first, second, third, fourth, fifth] = [0, 0, 0, 0, 0];
    for (let at = 0; at < length; at++) {
      let code = text.charCodeAt(at);
      if (code < 128) {
        const kind = asciiKinds[code]!;
        counts[kind]! += 1;
        if (kind === kinds.digit) code = 48;
        else if (code === 10) lines += 1;
      } else unusual += 1;
      rolling = Math.imul(rolling, factor) + code;
      whole = Math.imul(whole, 31) + code;
      rolling -= Math.imul(fifth, oldest);
      fifth = fourth;
      fourth = third;
      third = second;
      second = first;
      first = code;
      if (at < reach - 1) continue;
      let mixed = Math.imul(rolling ^ (rolling >>> 15), 0x2c1b3c6d);
      mixed ^= mixed >>> 12;
      if ((mixed & 1) === 0) continue;
      sequences += 1;
      const slot = mixed >>> 16;
      if (seen[slot] === stamp) continue;
      seen[slot] = stamp;
      slots[end++] = slot;
    }
    this.#end = end;
    this.hash = whole | 0;
    return { lines, unusual, sequences };
  }
}
