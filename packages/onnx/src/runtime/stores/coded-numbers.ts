/** Numbers of a block that share a scale. */
export const codedBlock = 256;

/** What 256 codes stand for: numbers up to 1, with about two digits over seven orders of magnitude. */
interface CodeBook {
  /** The numbers, in increasing order. */
  readonly values: Float32Array;
  /** Where a number's code becomes the next one, halfway between the two. */
  readonly borders: Float32Array;
  /**
   * The smallest code of the numbers whose float32 has these upper 16 bits, from {@link smallestUpper} to those of 1, then those of
   * negative numbers. At most one border is among these numbers.
   */
  readonly first: Uint8Array;
}

/** Numbers in 8 bits. */
export interface CodedNumbers {
  readonly codes: Uint8Array;
  /** Largest magnitude of each {@link codedBlock} of numbers. */
  readonly scales: Float32Array;
  readonly book: CodeBook;
}

/** Upper 16 bits of 2⁻²³, below which everything is rounded to 0, and of 1. */
export const smallestUpper = 0x3400;
const upperOfOne = 0x3f80;
/** Upper halves of numbers of one sign. */
export const upperCount = upperOfOne - smallestUpper + 1;

/** @see Dettmers 2015, https://arxiv.org/abs/1511.04561 */
function codeBook(signs: 'signed' | 'unsigned'): CodeBook {
  const positive: number[] = [1];
  for (let exponent = 0; exponent < 7; exponent++) {
    const steps = 2 ** exponent * (signs === 'signed' ? 1 : 2);
    for (let i = 0; i < steps; i++) positive.push(10 ** (exponent - 6) * (0.1 + (0.9 * (i + 0.5)) / steps));
  }
  const negative = signs === 'signed' ? positive.slice(1).map((value) => -value) : [];
  const values = Float32Array.from([...negative, 0, ...positive]).sort();
  const borders = values.map((value, code) => (value + (values[code + 1] ?? Number.POSITIVE_INFINITY)) / 2);
  return { values, borders, first: firstCodes(borders) };
}

function firstCodes(borders: Float32Array): Uint8Array {
  const float = new Float32Array(1);
  const bits = new Uint32Array(float.buffer);
  const codeOf = (upper: number, lower: number) => {
    bits[0] = (upper << 16) | lower;
    return borders.findIndex((border) => float[0]! < border);
  };
  return Uint8Array.from({ length: 2 * upperCount }, (_, at) => {
    const upper = smallestUpper + (at % upperCount);
    if (at === 0 || at === upperCount) return borders.findIndex((border) => border > 0);
    return at < upperCount ? codeOf(upper, 0) : codeOf(0x8000 + upper, 0xffff);
  });
}

const books = new Map<'signed' | 'unsigned', CodeBook>();

/** Zeros in 8 bits, for numbers of either sign, or twice as exact for numbers that are never negative. */
export function codedNumbers(length: number, signs: 'signed' | 'unsigned'): CodedNumbers {
  const book = books.get(signs) ?? codeBook(signs);
  books.set(signs, book);
  const scales = new Float32Array(Math.ceil(length / codedBlock));
  return { codes: new Uint8Array(length), scales, book };
}

/** Numbers from `start`, the first of a block. */
export function decode({ codes, scales, book }: CodedNumbers, start: number, into: Float32Array): void {
  for (let i = 0; i < into.length; i++) {
    into[i] = book.values[codes[start + i]!]! * scales[Math.floor((start + i) / codedBlock)]!;
  }
}

/** Keeps numbers from `start`, the first of a block. */
export function encode({ codes, scales, book }: CodedNumbers, start: number, numbers: Float32Array): void {
  const { borders } = book;
  for (let at = 0; at < numbers.length; at += codedBlock) {
    const block = numbers.subarray(at, at + codedBlock);
    const scale = Math.fround(block.reduce((most, number) => Math.max(most, Math.abs(number)), 1e-12));
    scales[(start + at) / codedBlock] = scale;
    for (const [i, number] of block.entries()) {
      const share = Math.fround(number / scale);
      codes[start + at + i] = borders.findIndex((border) => share < border);
    }
  }
}
