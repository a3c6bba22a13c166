import { type Kernel, maximumTextBytes, sharedKernel } from './kernel.ts';
import { PlainScanner, type TextScan } from './text-scan.ts';

/** `'auto'` takes the kernel where it can be had and pays; `'plain'` never does. */
export type Acceleration = 'auto' | 'plain';

const resultWords = 4;
const headerStart = 64;
const headerBytes = 24;
const patternStart = 8192;
const textStart = 65_536;
const maximumPatterns = Math.floor((patternStart - headerStart) / headerBytes);
const padding = 16;

/** Lower-case letters from rare to frequent in English; the kernel looks for a pattern by its two rarest characters. */
const byRarity = 'zqxjkvbpygfwmucldrhsnioate ';

/** Whose patterns are in the kernel's memory. */
let owner: TextScanner | undefined;

/**
 * Scans texts for words and patterns.
 *
 * ASCII texts up to {@link maximumTextBytes} go through a WebAssembly kernel (SIMD, one pass, nothing allocated); all others
 * through {@link PlainScanner}, with the same result.
 */
export class TextScanner {
  readonly #plain: PlainScanner;
  readonly #kernel: Kernel | undefined;
  readonly #encoder = new TextEncoder();
  readonly #text: Uint8Array;
  readonly #results: Int32Array;
  readonly #headers: Int32Array;
  /** Patterns that the kernel looks for, and their places among all. */
  readonly #ascii: readonly string[];
  readonly #indices: readonly number[];
  readonly #found: Uint8Array;

  constructor(patterns: readonly string[], acceleration: Acceleration = 'auto') {
    const lower = patterns.map((pattern) => pattern.toLowerCase());
    this.#plain = new PlainScanner(lower);
    this.#found = new Uint8Array(lower.length);
    // A pattern with other characters is in no ASCII text.
    this.#indices = lower.flatMap((pattern, index) => (isAscii(pattern) ? [index] : []));
    this.#ascii = this.#indices.map((index) => lower[index]!);
    this.#kernel = acceleration === 'auto' && fits(this.#ascii) ? sharedKernel() : undefined;
    const buffer = this.#kernel?.memory.buffer ?? new ArrayBuffer(0);
    const size = this.#kernel === undefined ? 0 : maximumTextBytes;
    this.#text = new Uint8Array(buffer, size === 0 ? 0 : textStart, size);
    this.#results = new Int32Array(buffer, 0, size === 0 ? 0 : resultWords);
    this.#headers = new Int32Array(buffer, 0, size === 0 ? 0 : patternStart / 4);
  }

  /** What scans short ASCII texts. */
  get acceleration(): 'kernel' | 'plain' {
    return this.#kernel === undefined ? 'plain' : 'kernel';
  }

  /** The result is good until the next scan. */
  scan(text: string): TextScan {
    return this.#scanInKernel(text) ?? this.#plain.scan(text);
  }

  #scanInKernel(text: string): TextScan | undefined {
    const { length } = text;
    if (this.#kernel === undefined || length > maximumTextBytes) return undefined;
    if (owner !== this) {
      writePatterns(this.#kernel.memory.buffer, this.#ascii);
      owner = this;
    }
    // As many bytes as characters: all of them are ASCII.
    const { read, written } = this.#encoder.encodeInto(text, this.#text);
    if (read !== length || written !== length) return undefined;
    if (this.#kernel.scan(length, this.#indices.length) !== 0) return undefined;
    for (let k = 0; k < this.#indices.length; k++) {
      this.#found[this.#indices[k]!] = this.#headers[(headerStart + headerBytes * k + 20) / 4]!;
    }
    return {
      words: this.#results[0]!,
      uniqueWords: this.#results[1]!,
      letters: this.#results[2]!,
      sentenceEnds: this.#results[3] === 1 ? 'some' : 'none',
      found: this.#found,
    };
  }
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}

function fits(patterns: readonly string[]): boolean {
  const bytes = patterns.reduce((sum, { length }) => sum + length + padding, 0);
  return patterns.length <= maximumPatterns && bytes <= textStart - patternStart;
}

function writePatterns(buffer: ArrayBuffer, patterns: readonly string[]): void {
  const bytes = new Uint8Array(buffer);
  let address = patternStart;
  for (const [index, pattern] of patterns.entries()) {
    const rank = (at: number) => byRarity.indexOf(pattern[at]!);
    const offsets = Array.from(pattern, (_, at) => at).sort((a, b) => rank(a) - rank(b));
    const [first = 0, second = first] = offsets;
    const header = new Int32Array(buffer, headerStart + headerBytes * index, headerBytes / 4);
    const characters = pattern.charCodeAt(first) | (pattern.charCodeAt(second) << 8);
    header.set([address, pattern.length, first, second, characters, 0]);
    for (let at = 0; at < pattern.length; at++) bytes[address + at] = pattern.charCodeAt(at);
    address += pattern.length + padding;
  }
}
