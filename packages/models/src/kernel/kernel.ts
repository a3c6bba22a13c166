import { bytesOf, EngineError, requireArguments } from '@rlp/core';
import { kernelBase64 } from './kernel-binary.ts';

/** Numbers of a piece. What belongs to one fits into a processor's cache. */
export const pieceLength = 2 ** 15;

/** Numbers of a block that share a scale. */
const blockLength = 64;

/** Limits between the codes of 4 bits, in float64. */
const limitCount = 15;

/** Functions of `kernel.wat`. */
interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  widenBrain(x: number, out: number, n: number): void;
  widenHalf(x: number, out: number, n: number): void;
  largest(x: number, n: number): number;
  roundInt8(x: number, bytes: number, scales: number, blocks: number): void;
  roundNf4(x: number, bytes: number, scales: number, blocks: number, limits: number): void;
}

/** The part of WebAssembly that is used here. TypeScript declares it only together with the whole DOM. */
interface WebAssemblyGlobal {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
}

/** Where pieces lie in the kernel's memory, in bytes. */
const places = (() => {
  const [halves, widened] = [0, 2 * pieceLength];
  const numbers = widened + 4 * pieceLength;
  const bytes = numbers + 4 * pieceLength;
  const scales = bytes + pieceLength;
  return { halves, widened, numbers, bytes, scales, limits: scales + (4 * pieceLength) / blockLength };
})();

/** SIMD loops over pieces of weights, in a memory of 6 pages that nobody else has. */
export class WeightKernel {
  /** Where 16-bit floats to be widened are written. */
  readonly halves: Uint8Array;
  /** Where numbers to be rounded are written. Shape: `[pieceLength]`. */
  readonly numbers: Float32Array;
  readonly #exports: KernelExports;
  readonly #buffer: ArrayBuffer;
  readonly #widened: Float32Array;

  constructor() {
    this.#exports = kernelExports();
    this.#buffer = this.#exports.memory.buffer;
    this.halves = new Uint8Array(this.#buffer, places.halves, 2 * pieceLength);
    this.numbers = new Float32Array(this.#buffer, places.numbers, pieceLength);
    this.#widened = new Float32Array(this.#buffer, places.widened, pieceLength);
  }

  /** The first of {@link halves} as float32, exactly. They hold until the next call. */
  widen(type: 'F16' | 'BF16', count: number): Float32Array {
    const widen = type === 'BF16' ? this.#exports.widenBrain : this.#exports.widenHalf;
    widen(places.halves, places.widened, upTo(8, count));
    return this.#widened.subarray(0, count);
  }

  /** Index of the first element that is NaN or infinite, or −1. */
  firstNonFinite(data: Float32Array): number {
    for (let first = 0; first < data.length; first += pieceLength) {
      const piece = data.subarray(first, first + pieceLength);
      this.#widened.set(piece);
      this.#widened.fill(0, piece.length, upTo(16, piece.length));
      const size = this.#exports.largest(places.widened, upTo(16, piece.length));
      // Bits of NaN and infinity are those of the largest sizes.
      if (size > 0x7f7fffff) return first + piece.findIndex((value) => !Number.isFinite(value));
    }
    return -1;
  }

  /** Rounds blocks of {@link numbers} to 8 bits. The results hold until the next call. */
  roundInt8(blocks: number) {
    this.#exports.roundInt8(places.numbers, places.bytes, places.scales, blocks);
    return this.#rounded(blocks, blockLength);
  }

  /** Rounds blocks of {@link numbers} to codes of 4 bits: how many of 15 limits a number is above, in units of its scale. */
  roundNf4(blocks: number, limits: Float64Array) {
    new Float64Array(this.#buffer, places.limits, limitCount).set(limits);
    this.#exports.roundNf4(places.numbers, places.bytes, places.scales, blocks, places.limits);
    return this.#rounded(blocks, blockLength / 2);
  }

  #rounded(blocks: number, width: number) {
    return {
      bytes: new Uint8Array(this.#buffer, places.bytes, blocks * width),
      scales: new Float32Array(this.#buffer, places.scales, blocks),
    };
  }
}

/** @throws EngineError if WebAssembly with SIMD is missing or forbidden. */
function kernelExports(): KernelExports {
  const { WebAssembly: webAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyGlobal };
  try {
    return new webAssembly.Instance(new webAssembly.Module(bytesOf(kernelBase64))).exports as KernelExports;
  } catch (cause) {
    throw new EngineError(
      "weights are read by WebAssembly with SIMD, which is missing here; in a page allow 'wasm-unsafe-eval', and start Node without --jitless",
      { cause },
    );
  }
}

let shared: WeightKernel | undefined;

/** The kernel of this thread. */
export function weightKernel(): WeightKernel {
  shared ??= new WeightKernel();
  return shared;
}

/** Index of the first element that is NaN or infinite, or −1. */
export function firstNonFinite(data: Float32Array): number {
  requireArguments('firstNonFinite', { data: 'list' }, data);
  return weightKernel().firstNonFinite(data);
}

/** The multiple of `step` that is not below a count. */
function upTo(step: number, count: number): number {
  return Math.ceil(count / step) * step;
}
