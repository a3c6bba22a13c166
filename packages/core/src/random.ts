import { ArgumentError } from './errors.ts';

/**
 * Named, counter-based random streams.
 *
 * A stream is a pure function from a name to numbers. Draw `n` of the stream `(seed, 'rollout', task, member)` is the same
 * whatever else runs. The generator is Philox4x32-10. The name, as JSON in UTF-8, is absorbed in blocks of 16 bytes.
 *
 * @see Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", https://doi.org/10.1145/2063384.2063405
 */

const M0 = 0xd2511f53;
const M1 = 0xcd9e8d57;
const W0 = 0x9e3779b9;
const W1 = 0xbb67ae85;

/** High 32 bits of the 64-bit product of two unsigned 32-bit integers, as a signed one. In integers only: floats take thrice as long. */
function mulHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const mid = (Math.imul(aHigh, bLow) >>> 0) + (Math.imul(aLow, bLow) >>> 16);
  const midLow = (mid & 0xffff) + (Math.imul(aLow, bHigh) >>> 0);
  return (Math.imul(aHigh, bHigh) + (mid >>> 16) + (midLow >>> 16)) | 0;
}

/** Four unsigned 32-bit integers. */
export type Block = readonly [number, number, number, number];

/** One block of Philox4x32-10: 128 random bits for a 128-bit counter and a 64-bit key. */
export function philox(counter: Block, key: readonly [number, number]): Block {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = mulHigh(M0, c0);
    const low0 = Math.imul(M0, c0);
    const high1 = mulHigh(M1, c2);
    const low1 = Math.imul(M1, c2);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + W0) | 0;
    k1 = (k1 + W1) | 0;
  }
  return [c0 >>> 0, c1 >>> 0, c2 >>> 0, c3 >>> 0];
}

/** Absorbs a name into a 128-bit stream identity. One Philox block mixes in four words at a time. */
function identify(path: readonly (string | number)[]): Block {
  const bytes = new TextEncoder().encode(JSON.stringify(path));
  const padded = new Uint8Array(Math.ceil((bytes.length + 1) / 16) * 16);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const words = new DataView(padded.buffer);
  let state: Block = [0, 0, 0, 0];
  for (let offset = 0; offset < padded.length; offset += 16) {
    const mixed: Block = [
      (state[0] ^ words.getUint32(offset, true)) >>> 0,
      (state[1] ^ words.getUint32(offset + 4, true)) >>> 0,
      (state[2] ^ words.getUint32(offset + 8, true)) >>> 0,
      (state[3] ^ words.getUint32(offset + 12, true)) >>> 0,
    ];
    state = philox(mixed, [state[2], state[3]]);
  }
  return state;
}

/** A position in a stream, as saved in checkpoints. */
export interface RandomState {
  readonly identity: Block;
  /** Numbers drawn so far. */
  readonly position: number;
}

/** A reproducible stream of random numbers. See the module comment for what "named" promises. */
export class RandomStream {
  readonly #identity: Block;
  #position: number;

  constructor(state: RandomState) {
    this.#identity = state.identity;
    this.#position = state.position;
  }

  /** The stream of this name, at its beginning. Names are compared part by part: `('a', 1)` is not `('a', '1')`. */
  static named(...path: readonly (string | number)[]): RandomStream {
    return new RandomStream({ identity: identify(path), position: 0 });
  }

  get state(): RandomState {
    return { identity: this.#identity, position: this.#position };
  }

  /** Draw `position` of the stream, uniform in [0, 1) with 53 random bits, without moving it. */
  at(position: number): number {
    const [i0, i1, i2, i3] = this.#identity;
    const low = position >>> 0;
    const high = Math.floor(position / 0x100000000) >>> 0;
    const [a, b] = philox([low, high, i2, i3], [i0, i1]);
    return ((a >>> 5) * 0x4000000 + (b >>> 6)) / 0x20000000000000;
  }

  /** Next draw, uniform in [0, 1). */
  uniform(): number {
    return this.at(this.#position++);
  }

  /** Next draw, uniform in (0, 1], so its logarithm is finite. */
  #positive(): number {
    return 1 - this.uniform();
  }

  /**
   * Next integer, uniform in [0, bound). The bias is below 2^-21.
   *
   * @throws ArgumentError for a bound that is not an integer from 1 to 2^32.
   */
  integer(bound: number): number {
    if (!(Number.isInteger(bound) && bound >= 1 && bound <= 0x100000000)) {
      throw new ArgumentError(
        `RandomStream: expected a bound that is an integer from 1 to 2^32, got ${bound}`,
      );
    }
    return Math.floor(this.uniform() * bound);
  }

  /**
   * Index of one of the shares, drawn with the probability that it has of their sum. Takes one draw.
   *
   * @throws ArgumentError if no share is above 0.
   */
  weighted(shares: readonly number[]): number {
    let left = this.uniform() * shares.reduce((sum, share) => sum + share, 0);
    for (const [index, share] of shares.entries()) {
      if (left < share) return index;
      left -= share;
    }
    // Rounding may leave a rest behind the last share.
    const last = shares.findLastIndex((share) => share > 0);
    if (last >= 0) return last;
    throw new ArgumentError(`RandomStream: expected a share above 0, got ${shares.join(', ') || 'none'}`);
  }

  /** Next normal deviate of mean 0 and variance 1 (Box–Muller, two draws). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(this.#positive()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** A shuffled copy (Fisher–Yates). */
  shuffle<Item>(items: readonly Item[]): Item[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = this.integer(last + 1);
      const item = shuffled[last]!;
      shuffled[last] = shuffled[other]!;
      shuffled[other] = item;
    }
    return shuffled;
  }
}
