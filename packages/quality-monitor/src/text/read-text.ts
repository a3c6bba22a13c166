/**
 * Hashes of a text's chunks, and counts of its characters.
 *
 * A **chunk** is a run without white space. ASCII letters are compared without case.
 */
export class ReadText {
  /** Hashes of the chunks, in two halves. Shape: `[chunkCount]` and room. */
  low: Int32Array<ArrayBuffer> = new Int32Array(256);
  high: Int32Array<ArrayBuffer> = new Int32Array(256);
  chunkCount = 0;
  /** Characters, and those of them that are controls, surrogates, private or replacements. */
  characters: { readonly all: number; readonly garbled: number } = { all: 0, garbled: 0 };

  /** Clears the text and makes room for chunks. */
  clear(room: number): void {
    this.chunkCount = 0;
    if (room <= this.low.length) return;
    const enough = 2 ** Math.ceil(Math.log2(room));
    this.low = new Int32Array(enough);
    this.high = new Int32Array(enough);
  }

  addChunk(low: number, high: number): void {
    this.low[this.chunkCount] = low;
    this.high[this.chunkCount] = high;
    this.chunkCount += 1;
  }
}
