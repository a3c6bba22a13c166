import { kernelMemory } from './kernel.ts';

/** The kernel takes this many numbers in one step, so buffers are padded to it. */
const stepBytes = 32;

/** Where the next region begins. Nested evaluations stack their regions. */
let top = 0;

/** A part of the kernel's memory that one evaluation has for itself, until it closes it. */
export class Region {
  readonly #memory = kernelMemory();
  readonly #start = top;

  /** A buffer in the kernel's memory, with arbitrary contents. `undefined` without a kernel or free memory. */
  take(length: number): Float64Array | undefined {
    const bytes = Math.max(1, Math.ceil((length * Float64Array.BYTES_PER_ELEMENT) / stepBytes)) * stepBytes;
    if (this.#memory === undefined || top + bytes > this.#memory.byteLength) return undefined;
    const buffer = new Float64Array(this.#memory, top, length);
    top += bytes;
    return buffer;
  }

  /** Gives everything back that was taken since the region began. */
  close(): void {
    top = this.#start;
  }
}
