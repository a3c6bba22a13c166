import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decodeFloats, encodeFloats } from './floats.ts';

/** The definition of a half, in doubles. */
function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1024 + mantissa) * 2 ** (exponent - 25));
}

function decode(type: 'F16' | 'BF16', halves: Uint16Array): Float32Array {
  const target = new Float32Array(halves.length);
  decodeFloats(type, new Uint8Array(halves.buffer), target);
  return target;
}

const encode = (type: 'F16' | 'BF16', value: number) =>
  new Uint16Array(encodeFloats(type, Float32Array.of(value)).buffer)[0]!;

describe('16-bit floats', () => {
  it('decodes each of the 65,536 halves to the value the format defines', () => {
    const decoded = decode(
      'F16',
      Uint16Array.from({ length: 65_536 }, (_, i) => i),
    );
    const wrong = decoded.findIndex((value, bits) => !Object.is(value, halfValue(bits)));
    expect(wrong).toBe(-1);
  });

  it.each(['F16', 'BF16'] as const)(
    '%s: encoding a decoded value gives its bits back, NaN stays NaN',
    (type) => {
      const bits = Uint16Array.from({ length: 65_536 }, (_, i) => i);
      const decoded = decode(type, bits);
      const encoded = new Uint16Array(encodeFloats(type, decoded).buffer);
      const again = decode(type, encoded);
      const wrong = bits.findIndex(
        (value, i) => !(Number.isNaN(decoded[i]) ? Number.isNaN(again[i]) : encoded[i] === value),
      );
      expect(wrong).toBe(-1);
    },
  );

  it('decodes a bfloat16 as the upper half of a float32', () => {
    expect([...decode('BF16', Uint16Array.of(0x3f80, 0xc049, 0x0001, 0x7f80))]).toEqual([
      1,
      -3.140625,
      2 ** -133,
      Number.POSITIVE_INFINITY,
    ]);
  });

  // Bits given by torch.tensor(x).to(torch.float16 / torch.bfloat16).view(torch.int16).
  it.each([
    ['F16', 1.0004882812, 0x3c00],
    ['F16', 1.00048828125, 0x3c00],
    ['F16', 1.00146484375, 0x3c02],
    ['F16', 65519.99609375, 0x7bff],
    ['F16', 65520, 0x7c00],
    ['F16', 2 ** -25, 0x0000],
    ['F16', 2 ** -25 * 1.0000001192092896, 0x0001],
    ['F16', -(2 ** -24), 0x8001],
    ['F16', 6.097555160522461e-5, 0x03ff],
    ['BF16', 1.00390625, 0x3f80],
    ['BF16', 1.01171875, 0x3f82],
    ['BF16', 3.4028234663852886e38, 0x7f80],
    ['BF16', -1e-40, 0x8001],
  ] as const)('%s: rounds %f to nearest, ties to even', (type, value, bits) => {
    expect(encode(type, value)).toBe(bits);
  });

  it.each(['F16', 'BF16'] as const)('%s: no neighbour is nearer than the value chosen', (type) => {
    const limit = type === 'F16' ? 65504 : 3e38;
    fc.assert(
      fc.property(fc.float({ noNaN: true, min: -Math.fround(limit), max: Math.fround(limit) }), (value) => {
        const bits = encode(type, value);
        const [chosen, below, above] = decode(type, Uint16Array.of(bits, bits - 1, bits + 1));
        for (const neighbour of [below!, above!]) {
          if (!Number.isFinite(neighbour) || Math.sign(neighbour) * Math.sign(value) < 0) continue;
          const distance = Math.abs(value - neighbour) - Math.abs(value - chosen!);
          expect(distance).toBeGreaterThanOrEqual(0);
          if (distance === 0) expect(bits & 1).toBe(0);
        }
      }),
    );
  });
});
