import { readFileSync } from 'node:fs';
import { RandomStream } from '@rlp/core';
import { nf4Values } from '@rlp/onnx/layers';
import { describe, expect, it } from 'vitest';
import loadWabt from 'wabt';
import { quantizeMatrix } from '../decoder/quantized.ts';
import { firstNonFinite, pieceLength } from './kernel.ts';
import { kernelBase64 } from './kernel-binary.ts';

it('is what kernel.wat assembles to', async () => {
  const wabt = await loadWabt();
  const text = readFileSync(new URL('./kernel.wat', import.meta.url), 'utf8');
  const { buffer } = wabt.parseWat('kernel.wat', text, { simd: true }).toBinary({});
  expect(Buffer.from(buffer).toString('base64')).toBe(kernelBase64);
});

describe('numbers that are not finite', () => {
  it('are found wherever they are, in a part of memory too', () => {
    const memory = Float32Array.of(Number.NaN, 1, -3e38, 0, Number.NEGATIVE_INFINITY, 2);
    expect(firstNonFinite(memory.subarray(1, 4))).toBe(-1);
    expect(firstNonFinite(memory.subarray(1))).toBe(3);
    expect(firstNonFinite(memory)).toBe(0);
    expect(firstNonFinite(new Float32Array())).toBe(-1);
  });

  it('are found in each place of several pieces', () => {
    const largest = new Float32Array(2 * pieceLength + 21).fill(3.4028234663852886e38);
    expect(firstNonFinite(largest)).toBe(-1);
    for (const at of [
      0,
      15,
      16,
      31,
      pieceLength - 1,
      pieceLength,
      2 * pieceLength + 15,
      2 * pieceLength + 20,
    ]) {
      expect(firstNonFinite(largest.with(at, Number.NEGATIVE_INFINITY))).toBe(at);
    }
  });
});

/** The definition of 8 bits, a number at a time and in float64. */
function plainInt8(block: Float32Array): number[] {
  const scale = Math.fround(Math.max(...block.map(Math.abs)) / 127);
  const inverse = scale > 0 ? 1 / scale : 0;
  return [scale, ...Array.from(block, (weight) => Math.trunc(weight * inverse + 128.5))];
}

/** The same of 4 bits: the code whose value is nearest. */
function plainNf4(block: Float32Array): number[] {
  const scale = Math.max(...block.map(Math.abs));
  const inverse = scale > 0 ? 1 / scale : 0;
  const limits = nf4Values.slice(1).map((value, at) => (value + nf4Values[at]!) / 2);
  const codes = Array.from(block, (weight) => limits.filter((limit) => weight * inverse > limit).length);
  return [scale, ...Array.from({ length: 32 }, (_, at) => 16 * codes[2 * at]! + codes[2 * at + 1]!)];
}

const bits = new DataView(new ArrayBuffer(4));

/** The number that is `steps` places further in the order of float32. */
function neighbour(value: number, steps: number): number {
  bits.setFloat32(0, value);
  bits.setInt32(0, bits.getInt32(0) + Math.sign(value) * steps);
  return bits.getFloat32(0);
}

/** Blocks of all magnitudes, and with weights at and around the borders between two codes. */
function hardBlocks(count: number): Float32Array {
  const random = RandomStream.named('hard blocks');
  const borders = [...nf4Values.slice(1).map((value, at) => (value + nf4Values[at]!) / 2)];
  const halves = Array.from({ length: 40 }, (_, at) => (at - 20 + 0.5) / 127);
  const data = new Float32Array(64 * count);
  for (let block = 0; block < count; block++) {
    const scale = Math.fround(10 ** (60 * random.uniform() - 40) * (1 + random.uniform()));
    for (let i = 0; i < 64; i++) {
      const border = [...borders, ...halves][random.integer(borders.length + halves.length)]!;
      const value = i % 2 === 0 ? border : 2 * random.uniform() - 1;
      data[64 * block + i] = neighbour(Math.fround(value * scale), random.integer(5) - 2);
    }
    data[64 * block + random.integer(64)] = scale;
  }
  return data;
}

describe.each([
  ['int8', plainInt8, 64],
  ['nf4', plainNf4, 32],
] as const)('blocks in %s', (form, plain, width) => {
  it('have the bytes and scales of the definition, at every border', () => {
    const blocks = pieceLength / 64 + 300;
    const data = hardBlocks(blocks);
    const { bytes, scales } = quantizeMatrix(data, { inputs: 64, outputs: blocks, order: 'out-in' }, form);
    const rounded = Array.from(scales, (scale, at) => [scale, ...bytes.slice(at * width, (at + 1) * width)]);
    const expected = Array.from(scales, (_, at) => plain(data.subarray(64 * at, 64 * (at + 1))));
    expect(rounded).toEqual(expected);
  });
});
