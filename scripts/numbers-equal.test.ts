import { describe, expect, it } from 'vitest';

describe('lists of numbers', () => {
  it('are equal if type, length and every number are', () => {
    expect(Float32Array.of(1, Number.NaN)).toEqual(Float32Array.of(1, Number.NaN));
    expect(BigInt64Array.of(1n)).toEqual(BigInt64Array.of(1n));
    expect({ a: [1, 2], b: [Float32Array.of(3)] }).toStrictEqual({ a: [1, 2], b: [Float32Array.of(3)] });
    expect([1, 'x', 3]).toEqual([1, expect.any(String), 3]);
  });

  it.each<[one: unknown, other: unknown]>([
    [Float32Array.of(0), Float32Array.of(-0)],
    [Float32Array.of(1), Float64Array.of(1)],
    [Float32Array.of(1), Float32Array.of(1, 2)],
    [Float32Array.of(1), [1]],
    [Uint8Array.of(1), Buffer.from([1])],
    [
      [1, 2],
      [1, 3],
    ],
    [[0], [-0]],
    [{ a: [1, 2] }, { a: [1] }],
  ])('%j and %j differ', (one, other) => {
    expect(one).not.toEqual(other);
    expect(one).not.toStrictEqual(other);
  });

  it('are compared at once', () => {
    const numbers = Array.from({ length: 300_000 }, (_, at) => at / 3);
    const begun = performance.now();
    expect([...numbers]).toEqual(numbers);
    expect(Float64Array.from(numbers)).toEqual(Float64Array.from(numbers));
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});
