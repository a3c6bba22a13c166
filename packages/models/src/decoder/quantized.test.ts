import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import type { LinearLayer } from './layout.ts';
import { asInt8, dequantizeMatrix, quantizedNames, quantizeMatrix, quantizeWeights } from './quantized.ts';
import { quantizedForms } from './rounding.ts';

function dequantized(data: Float32Array, layer: Pick<LinearLayer, 'inputs' | 'outputs' | 'order'>) {
  const matrix = quantizeMatrix(data, layer, 'int8');
  return {
    ...matrix,
    all: dequantizeMatrix(matrix, layer),
    largestScale: Math.max(...matrix.scales),
  };
}

describe('quantizeMatrix to int8', () => {
  it.each(['out-in', 'in-out'] as const)('moves no weight by more than half a scale, stored %s', (order) => {
    const random = RandomStream.named('quantized', order);
    for (const inputs of [1, 63, 64, 65, 200]) {
      for (const magnitude of [1e-20, 1, 1e20]) {
        const data = Float32Array.from(
          { length: inputs * 5 },
          () => magnitude * (random.uniform() - 0.5) ** 3,
        );
        const { all, largestScale, bytes } = dequantized(data, { inputs, outputs: 5, order });
        // Output 1 begins with the second row of blocks.
        const second = Math.ceil(inputs / 64) * 64;
        const weight = data[order === 'out-in' ? inputs : 1]!;
        expect(Math.sign(bytes[second]! - 128) * Math.sign(weight)).toBeGreaterThanOrEqual(0);
        const worst = Math.max(...all.map((weight, at) => Math.abs(weight - data[at]!)));
        expect(worst).toBeLessThanOrEqual(0.5 * largestScale * (1 + 1e-5));
        expect(largestScale).toBeLessThanOrEqual((magnitude / 8 / 127) * (1 + 1e-6));
      }
    }
  });

  it('keeps zeros, and passes weights on that are not finite', () => {
    const shape = { inputs: 70, outputs: 1, order: 'out-in' } as const;
    expect(dequantized(new Float32Array(70), shape).all.every((weight) => weight === 0)).toBe(true);
    for (const broken of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const { scales } = dequantized(new Float32Array(70).fill(1).fill(broken, 66, 67), shape);
      expect(scales[0]).toBeCloseTo(1 / 127);
      expect(scales[1]).toBeNaN();
    }
  });
});

describe('quantizeMatrix to nf4', () => {
  // bitsandbytes 0.50.2: quantize_4bit(weight, blocksize=64, quant_type="nf4", compress_statistics=False) of a weight [5, 30]
  const size = { inputs: 30, outputs: 5 };
  const weight = Float32Array.from(
    { length: 150 },
    (_, i) => Math.sin(1.7 * i) * Math.exp(Math.cos(0.3 * i)),
  );
  const bytes =
    '7f51ab5598679758b42ed04e728a6588669847d41de12d937a7589669936e70bf32ba4697679659b33ea07e529a5698679749d31ed04d7389668866a837e40de23c9479768965aa25f70ae';
  const scales = [2.6030991077423096, 2.6846656799316406, 2.6718366146087646];
  const firstValues = [
    0, 2.6030991077423096, -0.48098355531692505, -1.8122588396072388, 0.6406547427177429, 0.8796268701553345,
  ];

  it('gives the bytes, scales and values of bitsandbytes', () => {
    const layer = { ...size, order: 'out-in' } as const;
    const matrix = quantizeMatrix(weight, layer, 'nf4');
    // The last block is filled up with zeros.
    expect(Buffer.from(matrix.bytes).toString('hex').slice(0, 150)).toBe(bytes);
    expect([...matrix.scales]).toEqual(scales);
    expect([...dequantizeMatrix(matrix, layer)].slice(0, 6)).toEqual(firstValues);
  });

  it('gives the same for a weight that is stored the other way round', () => {
    const layer = { ...size, order: 'in-out' } as const;
    const turned = Float32Array.from({ length: 150 }, (_, at) => weight[(at % 5) * 30 + Math.floor(at / 5)]!);
    const matrix = quantizeMatrix(turned, layer, 'nf4');
    expect(Buffer.from(matrix.bytes).toString('hex').slice(0, 150)).toBe(bytes);
    const values = dequantizeMatrix(matrix, layer);
    expect(Array.from({ length: 6 }, (_, input) => values[input * 5])).toEqual(firstValues);
  });

  it.each(['out-in', 'in-out'] as const)(
    'is rounded again to 8 bits as its values are, stored %s',
    (order) => {
      for (const inputs of [30, 64]) {
        const layer = { inputs, outputs: 5, order };
        const data = Float32Array.from({ length: 5 * inputs }, (_, at) => Math.sin(1.7 * at));
        const matrix = quantizeMatrix(data, layer, 'nf4');
        const again = asInt8(matrix);
        expect(again).toEqual(quantizeMatrix(dequantizeMatrix(matrix, layer), layer, 'int8'));
        expect(asInt8(again)).toBe(again);
      }
    },
  );

  it('keeps zeros, and passes weights on that are not finite', () => {
    const layer = { inputs: 70, outputs: 1, order: 'out-in' } as const;
    const zeros = quantizeMatrix(new Float32Array(70), layer, 'nf4');
    expect(dequantizeMatrix(zeros, layer).every((value) => value === 0)).toBe(true);
    for (const broken of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const { scales } = quantizeMatrix(new Float32Array(70).fill(1).fill(broken, 66, 67), layer, 'nf4');
      expect([...scales]).toEqual([1, Number.NaN]);
    }
  });
});

describe.each(quantizedForms)('a layer of a file in %s', (form) => {
  const layers = [
    { weight: 'even', inputs: 128, outputs: 9, order: 'out-in' },
    { weight: 'odd', inputs: 75, outputs: 3, order: 'out-in' },
    { weight: 'turned', inputs: 75, outputs: 3, order: 'in-out' },
  ].map((sizes) => ({ ...sizes, bias: undefined }) as unknown as LinearLayer);

  /** Weights that are read in parts only. */
  const stored = new Map(
    layers.map(({ weight, inputs, outputs }) => {
      const random = RandomStream.named(weight);
      const data = Float32Array.from({ length: inputs * outputs }, () => random.uniform() - 0.5);
      const copyTo = (target: Float32Array, first: number) =>
        target.set(data.subarray(first, first + target.length));
      return [weight, { shape: [data.length], data, copyTo }];
    }),
  );

  it('has the bytes and scales of one in memory, in any part and order', () => {
    for (const layer of layers) {
      const expected = quantizeMatrix(stored.get(layer.weight)!.data, layer, form);
      const bytes = new Float32Array(expected.bytes.buffer);
      const names = quantizedNames(layer.weight, form);
      for (const order of [
        [names.bytes, names.scales],
        [names.scales, names.bytes],
      ]) {
        const tensors = quantizeWeights(stored, layers, form);
        for (const name of order) {
          const numbers = name === names.bytes ? bytes : expected.scales;
          expect(tensors.get(name)!.shape).toEqual([numbers.length]);
          for (const step of [1, 5, 16, numbers.length]) {
            const read = new Float32Array(numbers.length);
            for (let first = 0; first < read.length; first += step) {
              tensors.get(name)!.copyTo!(read.subarray(first, first + step), first);
            }
            expect(Buffer.from(read.buffer)).toEqual(Buffer.from(numbers.buffer));
          }
          expect(Buffer.from(tensors.get(name)!.data.buffer)).toEqual(Buffer.from(numbers.buffer));
        }
      }
    }
  });
});
