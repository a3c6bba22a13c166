import type { ParameterStore } from '@rlp/onnx/runtime';
import type { TrainedParameter } from './update-rule.ts';

type Kernels = ParameterStore['kernels'];

/** Numbers of a moment that share a scale. */
const blockLength = 256;

/** Tensors of fewer numbers keep their moments in float32. */
const smallestLength = 4096;

/** Whether the moments of a parameter are kept in 8 bits. */
export function hasEightBitMoments({ shape }: Pick<TrainedParameter, 'shape'>): boolean {
  return lengthOf(shape) >= smallestLength;
}

/** Bytes of a parameter's moments in memory. */
export function eightBitBytes({ shape }: Pick<TrainedParameter, 'shape'>): number {
  const length = lengthOf(shape);
  return hasEightBitMoments({ shape }) ? 2 * (length + 4 * Math.ceil(length / blockLength)) : 8 * length;
}

/** Tensors of a parameter's state in a checkpoint, shapes by name. Each number of `codes` holds three codes. */
export function eightBitState({ shape }: TrainedParameter): Readonly<Record<string, readonly number[]>> {
  if (!hasEightBitMoments({ shape })) return { moment1: shape, moment2: shape };
  const codes = [Math.ceil(lengthOf(shape) / 3)];
  const scales = [Math.ceil(lengthOf(shape) / blockLength)];
  return { codes1: codes, scales1: scales, codes2: codes, scales2: scales };
}

function lengthOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Signed or unsigned numbers up to 1 in 8 bits, with about two digits over seven orders of magnitude. */
interface DynamicMap {
  /** Numbers that the 256 codes stand for, in increasing order. */
  readonly values: Float32Array;
  /** Where a number's code becomes the next one, halfway between the two. */
  readonly borders: Float32Array;
  /** By the upper 16 bits of a float32: the smallest code of the numbers that begin with them. At most one border is among these numbers. */
  readonly first: Uint8Array;
}

/** @see Dettmers 2015, https://arxiv.org/abs/1511.04561 */
function dynamicMap(signs: 'signed' | 'unsigned'): DynamicMap {
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
  const first = new Uint8Array(1 << 16);
  const one = 0x3f80;
  const sign = 0x8000;
  let code = 0;
  const fill = (upper: number, lower: number) => {
    bits[0] = (upper << 16) | lower;
    while (float[0]! >= borders[code]!) code++;
    first[upper] = code;
  };
  for (let upper = sign + one; upper >= sign; upper--) fill(upper, 0xffff);
  for (let upper = 0; upper <= one; upper++) fill(upper, 0);
  return first;
}

let maps: Readonly<Record<'signed' | 'unsigned', DynamicMap>> | undefined;

function mapOf(signs: 'signed' | 'unsigned'): DynamicMap {
  maps ??= { signed: dynamicMap('signed'), unsigned: dynamicMap('unsigned') };
  return maps[signs];
}

/** Numbers of a moment that are in float32 at a time. */
const pieceLength = 64 * blockLength;

/** Numbers in 8 bits, in blocks that share a scale. All are 0 at first. */
class EightBitNumbers {
  readonly codes: Uint8Array;
  /** Largest magnitude of each block. */
  readonly scales: Float32Array;
  readonly #map: DynamicMap;

  constructor(length: number, signs: 'signed' | 'unsigned') {
    this.codes = new Uint8Array(length);
    this.scales = new Float32Array(Math.ceil(length / blockLength));
    this.#map = mapOf(signs);
  }

  /** Numbers from `start`, the first of a block. */
  read(start: number, into: Float32Array): void {
    const { codes, scales } = this;
    const { values } = this.#map;
    for (let at = 0; at < into.length; at += blockLength) {
      const end = Math.min(at + blockLength, into.length);
      const block = into.subarray(at, end);
      decode(codes.subarray(start + at, start + end), values, scales[(start + at) / blockLength]!, block);
    }
  }

  /** Keeps numbers from `start`, the first of a block. Changes `numbers`. */
  store(start: number, numbers: Float32Array): void {
    const { codes, scales } = this;
    for (let at = 0; at < numbers.length; at += blockLength) {
      const end = Math.min(at + blockLength, numbers.length);
      const block = numbers.subarray(at, end);
      const scale = largestOf(block);
      scales[(start + at) / blockLength] = scale;
      divide(block, scale);
      encode(block, this.#map, codes.subarray(start + at, start + end));
    }
  }
}

function decode(codes: Uint8Array, values: Float32Array, scale: number, into: Float32Array): void {
  for (let i = 0; i < into.length; i++) into[i] = values[codes[i]!]! * scale;
}

function divide(numbers: Float32Array, scale: number): void {
  for (let i = 0; i < numbers.length; i++) numbers[i] = numbers[i]! / scale;
}

function encode(numbers: Float32Array, { borders, first }: DynamicMap, into: Uint8Array): void {
  const bits = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const code = first[bits[i]! >>> 16]!;
    into[i] = code + Number(numbers[i]! >= borders[code]!);
  }
}

/** Largest magnitude, and not 0. */
function largestOf(numbers: Float32Array): number {
  let largest = 1e-12;
  for (let i = 0; i < numbers.length; i++) {
    const size = Math.abs(numbers[i]!);
    if (size > largest) largest = size;
  }
  return Math.fround(largest);
}

/**
 * AdamW whose moments are kept in 8 bits, in blocks of 256 with a scale. It takes 2 bytes per weight instead of 8.
 *
 * An update is that of AdamW with the moments before they are rounded.
 *
 * @see Dettmers et al. 2022, https://arxiv.org/abs/2110.02861
 */
export class EightBitMoments {
  readonly #first: EightBitNumbers;
  readonly #second: EightBitNumbers;

  constructor(length: number) {
    this.#first = new EightBitNumbers(length, 'signed');
    this.#second = new EightBitNumbers(length, 'unsigned');
  }

  /** Updates `value` in place. */
  update(
    { adamw }: Pick<Kernels, 'adamw'>,
    { value, gradient }: Readonly<Record<'value' | 'gradient', Float32Array>>,
    step: Parameters<Kernels['adamw']>[1],
  ): void {
    const [firsts, seconds] = [new Float32Array(pieceLength), new Float32Array(pieceLength)];
    for (let start = 0; start < value.length; start += pieceLength) {
      const end = Math.min(start + pieceLength, value.length);
      const [moment1, moment2] = [firsts.subarray(0, end - start), seconds.subarray(0, end - start)];
      this.#first.read(start, moment1);
      this.#second.read(start, moment2);
      const piece = { value: value.subarray(start, end), gradient: gradient.subarray(start, end) };
      adamw({ ...piece, moment1, moment2 }, step);
      this.#first.store(start, moment1);
      this.#second.store(start, moment2);
    }
  }

  /** Copies by the names of {@link eightBitState}. */
  save(): Readonly<Record<string, Float32Array<ArrayBuffer>>> {
    return {
      codes1: packed(this.#first.codes),
      scales1: this.#first.scales.slice(),
      codes2: packed(this.#second.codes),
      scales2: this.#second.scales.slice(),
    };
  }

  /** Replaces the state by what {@link EightBitMoments.save} gave. */
  restore(state: Readonly<Record<string, Float32Array>>): void {
    unpack(state.codes1!, this.#first.codes);
    this.#first.scales.set(state.scales1!);
    unpack(state.codes2!, this.#second.codes);
    this.#second.scales.set(state.scales2!);
  }
}

/** Three codes in each number. float32 holds integers of 24 bits. */
function packed(codes: Uint8Array): Float32Array<ArrayBuffer> {
  return Float32Array.from(
    { length: Math.ceil(codes.length / 3) },
    (_, i) => codes[3 * i]! + ((codes[3 * i + 1] ?? 0) << 8) + ((codes[3 * i + 2] ?? 0) << 16),
  );
}

function unpack(numbers: Float32Array, into: Uint8Array): void {
  for (let i = 0; i < into.length; i++) {
    into[i] = numbers[Math.floor(i / 3)]! >>> (8 * (i % 3));
  }
}
