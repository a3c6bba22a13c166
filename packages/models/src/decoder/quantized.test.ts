import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import type { LinearLayer } from './layout.ts';
import { dequantizeMatrix, quantizeMatrix } from './quantized.ts';

function dequantized(data: Float32Array, layer: Pick<LinearLayer, 'inputs' | 'outputs' | 'order'>) {
  const matrix = quantizeMatrix(data, layer);
  return {
    ...matrix,
    all: dequantizeMatrix(matrix, layer),
    largestScale: Math.max(...matrix.scales),
  };
}

describe('quantizeMatrix', () => {
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
