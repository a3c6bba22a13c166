import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EightBitMoments } from './eight-bit.ts';
import { type AdamStep, adamw } from './optimizer.ts';

type States = 'value' | 'codes1' | 'scales1' | 'codes2' | 'scales2';

/** Computed by torchao, numbers in base64: `fixtures/adamw_8bit.py`. */
const golden = JSON.parse(
  readFileSync(new URL('../../fixtures/testdata/adamw-8bit.json', import.meta.url), 'utf8'),
) as {
  readonly shape: readonly [number, number];
  readonly options: Omit<AdamStep, 'update'>;
  readonly after: readonly [first: Readonly<Record<States, string>>, sixth: Readonly<Record<States, string>>];
};

const length = golden.shape[0] * golden.shape[1];
const kernels: Parameters<EightBitMoments['update']>[0] = {
  adamw: ({ value, gradient, ...state }, step) => adamw(value, gradient, state, step),
};

/** The numbers that torchao was given. */
function numbers(k: number): Float32Array {
  return Float32Array.from(
    { length },
    (_, i) => (((i * 7919 + k * 104729) % 2003) / 2003 - 0.5) / 10 ** ((i * 31) % 6),
  );
}

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'base64'));
const floats = (text: string) => new Float32Array(bytes(text).buffer);

/** Largest difference, relative to numbers above 1. */
function largestGap(got: Float32Array, expected: Float32Array): number {
  return got.reduce(
    (worst, x, i) => Math.max(worst, Math.abs(x - expected[i]!) / Math.max(1, Math.abs(expected[i]!))),
    0,
  );
}

function codesOf(packed: Float32Array): number[] {
  return Array.from({ length }, (_, i) => (packed[Math.floor(i / 3)]! >>> (8 * (i % 3))) & 255);
}

it('equals the updates of torchao and keeps its codes, but for rounding halfway between two', () => {
  const moments = new EightBitMoments(length);
  const value = numbers(0);
  for (let update = 1; update <= 6; update++) {
    moments.update(kernels, { value, gradient: numbers(update) }, { ...golden.options, update });
    if (update > 1 && update < 6) continue;
    const expected = golden.after[update === 1 ? 0 : 1];
    expect(largestGap(value, floats(expected.value)), `update ${update}`).toBeLessThan(2e-6);
    const state = moments.save();
    for (const name of ['codes1', 'codes2'] as const) {
      const theirs = bytes(expected[name]);
      const others = codesOf(state[name]!).filter((code, i) => code !== theirs[i]);
      expect(others.length, `${name} after update ${update}`).toBeLessThanOrEqual(2);
    }
    expect(largestGap(state.scales1!, floats(expected.scales1))).toBeLessThan(1e-6);
    expect(largestGap(state.scales2!, floats(expected.scales2))).toBeLessThan(1e-6);
  }
});

it('updates a tensor whose last block is short, and goes on from its state', () => {
  const short = (k: number) => numbers(k).subarray(0, 5000);
  const [first, second] = [new EightBitMoments(5000), new EightBitMoments(5000)];
  const value = short(0);
  const step = (update: number) => ({ ...golden.options, update });
  first.update(kernels, { value, gradient: short(1) }, step(1));
  expect(value.every(Number.isFinite)).toBe(true);
  second.restore(first.save());
  const again = value.slice();
  first.update(kernels, { value, gradient: short(2) }, step(2));
  second.update(kernels, { value: again, gradient: short(2) }, step(2));
  expect(again).toEqual(value);
});
