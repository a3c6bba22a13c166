import { HashSet, type TextReader } from '@rlp/answers/text';
import { hashText, mixedHash } from '@rlp/core';

/** Entries of a text's signature; see {@link Sequences.read}. */
export const signatureLength = 64;

const longest = 3;
/** Hash of nothing. */
const start = 0x811c9dc5 | 0;
/** Marks an empty entry of a signature. */
const empty = 0xffffffff;

/** Sequences of three chunks of a text. The object is reused for one text after the other. */
export class Sequences {
  readonly #different = new HashSet();
  #count = 0;

  /**
   * Reads a text and forgets the one before.
   *
   * The signature is a one-permutation MinHash. The share of equal entries of two texts estimates the Jaccard similarity of their
   * sequences. Each sequence belongs to one entry by its hash. An entry keeps the smallest hash. Empty entries derive from the
   * next one (densification).
   *
   * @param signature - Receives the signature. Shape: `[signatureLength]`.
   * @see Li, Owen and Zhang 2012, https://arxiv.org/abs/1208.1259; Shrivastava and Li 2014, https://arxiv.org/abs/1406.4784
   */
  read({ chunks, chunkCount }: TextReader, signature?: Uint32Array): void {
    // A text of one or two chunks is one sequence.
    const length = Math.min(longest, chunkCount);
    this.#count = length === 0 ? 0 : chunkCount - length + 1;
    this.#different.clear();
    signature?.fill(empty);
    for (let at = 0; at < this.#count; at++) {
      let sequence = start;
      for (let chunk = at; chunk < at + length; chunk++) sequence = continued(sequence, chunks[chunk]!);
      this.#different.add(sequence);
      if (signature === undefined) continue;
      const hash = mixedHash(sequence);
      const entry = hash & (signatureLength - 1);
      signature[entry] = Math.min(signature[entry]!, hash >>> 6);
    }
    if (signature !== undefined && this.#count > 0) densify(signature);
  }

  /** Sequences that repeat within the text. */
  get repeated(): number {
    return this.#count - this.#different.size;
  }

  /** `1 − different / all`, in 0–1. 0 without sequences. */
  get repetition(): number {
    return this.#count === 0 ? 0 : 1 - this.#different.size / this.#count;
  }
}

/**
 * A signature that only equal texts share.
 *
 * @param into - Shape: `[signatureLength]`.
 */
export function exactSignature(text: string, into: Uint32Array): void {
  const { low, high } = hashText(text);
  for (let entry = 0; entry < signatureLength; entry++) {
    into[entry] = mixedHash((entry & 1 ? high : low) + entry);
  }
}

function continued(hash: number, chunk: number): number {
  return Math.imul(hash ^ chunk, 0x01000193) ^ (hash >>> 15);
}

/** Fills empty entries downwards from a full one, each from the one after it. */
function densify(entries: Uint32Array): void {
  let full = 0;
  while (entries[full] === empty) full += 1;
  let next = entries[full]!;
  for (let step = 1; step < signatureLength; step++) {
    const entry = (full - step) & (signatureLength - 1);
    if (entries[entry] === empty) entries[entry] = mixedHash(next + 1) >>> 6;
    next = entries[entry]!;
  }
}
