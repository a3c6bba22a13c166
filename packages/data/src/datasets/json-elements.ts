import { FormatError, plural } from '@rlp/core';
import { joinedBytes } from '../lines/byte-lines.ts';

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const isSpace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
const isOpening = (byte: number) => byte === 0x5b || byte === 0x7b;
const isClosing = (byte: number) => byte === 0x5d || byte === 0x7d;

/** Cuts a JSON list into its elements, piece by piece. Memory holds one piece and one element. */
export class JsonElements {
  readonly #source: string;
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #depth = 0;
  #string: 'no' | 'yes' | 'escaped' = 'no';
  #isClosed = false;
  #count = 0;

  /** @param maxBytes - Longest element. */
  constructor(source: string, maxBytes = 2 ** 28) {
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  /** The elements that end in this piece, as bytes. */
  push(piece: Uint8Array): Uint8Array[] {
    const elements: Uint8Array[] = [];
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]!;
      if (this.#string !== 'no') {
        if (this.#string === 'escaped') this.#string = 'yes';
        else if (byte === backslash) this.#string = 'escaped';
        else if (byte === quote) this.#string = 'no';
        continue;
      }
      if (byte === quote) this.#string = 'yes';
      const isBorder = this.#step(byte);
      if (isBorder === 'no') continue;
      if (isBorder === 'end') {
        const element = this.#joined(piece.subarray(start, at));
        const isEmptyList = this.#isClosed && this.#count === 0 && element.every(isSpace);
        this.#count += isEmptyList ? 0 : 1;
        if (!isEmptyList) elements.push(element);
      }
      start = at + 1;
    }
    if (this.#depth > 0) this.#keep(piece.slice(start));
    return elements;
  }

  /** Checks that the list is complete. */
  end(): void {
    if (this.#isClosed) return;
    throw new FormatError(
      `${this.#source}: expected a JSON list that ends with ], got an end after ${plural(this.#count, 'element')}; the file is cut short, so write or download it again`,
    );
  }

  #step(byte: number): 'no' | 'start' | 'end' {
    if (this.#depth === 0) {
      if (this.#isClosed && !isSpace(byte)) {
        throw new FormatError(`${this.#source}: expected nothing after the end of the JSON list`);
      }
      if (byte !== 0x5b) return 'no';
      this.#depth = 1;
      return 'start';
    }
    if (isOpening(byte)) this.#depth += 1;
    else if (isClosing(byte)) this.#depth -= 1;
    this.#isClosed = this.#depth === 0;
    return this.#isClosed || (byte === comma && this.#depth === 1) ? 'end' : 'no';
  }

  #keep(rest: Uint8Array): void {
    if (rest.length === 0) return;
    this.#pieces.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes <= this.#maxBytes) return;
    throw new FormatError(
      `${this.#source}, element ${this.#count + 1}: expected at most ${this.#maxBytes} bytes, got more`,
    );
  }

  #joined(last: Uint8Array): Uint8Array {
    const joined = joinedBytes([...this.#pieces, last]);
    [this.#pieces, this.#bytes] = [[], 0];
    return joined;
  }
}
