import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codedBlock, codedNumbers, decode, encode } from './coded-numbers.ts';
import type { AdamwStep } from './kernel-exports.ts';
import { createKernels, scratchBytes } from './kernels.ts';
import { webAssembly } from './web-assembly.ts';

type Parts = 'value' | 'codes1' | 'scales1' | 'codes2' | 'scales2';

/** Computed by torchao, numbers in base64: `fixtures/adamw_8bit.py`. */
const golden = JSON.parse(
  readFileSync(new URL('../../../fixtures/testdata/adamw-8bit.json', import.meta.url), 'utf8'),
) as {
  readonly shape: readonly [number, number];
  readonly options: Omit<AdamwStep, 'update'>;
  readonly after: readonly [first: Readonly<Record<Parts, string>>, sixth: Readonly<Record<Parts, string>>];
};
const length = golden.shape[0] * golden.shape[1];

/** The numbers that torchao was given. */
function given(k: number, count = length): Float32Array {
  return Float32Array.from(
    { length: count },
    (_, i) => (((i * 7919 + k * 104729) % 2003) / 2003 - 0.5) / 10 ** ((i * 31) % 6),
  );
}

const memory = new webAssembly.Memory({ initial: 40, maximum: 40 });
const kernels = createKernels([memory]);

/** Weights and gradient, in the memory or elsewhere. */
const places = {
  'in memory': (count: number) => ({
    value: new Float32Array(memory.buffer, scratchBytes, count),
    gradient: new Float32Array(memory.buffer, scratchBytes + 4 * 50_000, count),
  }),
  elsewhere: (count: number) => ({ value: new Float32Array(count), gradient: new Float32Array(count) }),
};

function start(place: keyof typeof places, count: number) {
  const arrays = places[place](count);
  arrays.value.set(given(0, count));
  const moments = { moment1: codedNumbers(count, 'signed'), moment2: codedNumbers(count, 'unsigned') };
  const update = (number: number) => {
    arrays.gradient.set(given(number, count));
    kernels.adamwCoded({ ...arrays, ...moments }, { ...golden.options, update: number });
  };
  return { ...arrays, ...moments, update };
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

describe.each(['in memory', 'elsewhere'] as const)('AdamW with moments in 8 bits, %s', (place) => {
  it('equals the updates of torchao and keeps its codes, but for rounding halfway between two', () => {
    const run = start(place, length);
    for (let update = 1; update <= 6; update++) {
      run.update(update);
      if (update > 1 && update < 6) continue;
      const expected = golden.after[update === 1 ? 0 : 1];
      expect(largestGap(run.value, floats(expected.value)), `update ${update}`).toBeLessThan(2e-6);
      for (const [moment, codes, scales] of [
        [run.moment1, expected.codes1, expected.scales1],
        [run.moment2, expected.codes2, expected.scales2],
      ] as const) {
        const theirs = bytes(codes);
        const others = moment.codes.filter((code, i) => code !== theirs[i]);
        expect(others.length, `codes after update ${update}`).toBeLessThanOrEqual(2);
        expect(largestGap(moment.scales, floats(scales))).toBeLessThan(1e-6);
      }
    }
  });
});

it('a last block and a last piece may be short', () => {
  for (const count of [1, 3, 255, 257, 8193, 40_001]) {
    const [inside, outside] = [start('in memory', count), start('elsewhere', count)];
    for (const update of [1, 2]) {
      inside.update(update);
      outside.update(update);
      expect(largestGap(inside.value, outside.value), `${count}`).toBeLessThan(1e-6);
    }
    const differ = inside.moment2.codes.filter((code, i) => code !== outside.moment2.codes[i]);
    expect(differ.length).toBeLessThanOrEqual(count / 1000);
  }
});

it('a number comes back within half a step of its block', () => {
  const numbers = fc.array(fc.float({ noNaN: true, min: -1000, max: 1000 }), {
    minLength: 1,
    maxLength: 600,
  });
  fc.assert(
    fc.property(numbers, (values) => {
      const coded = codedNumbers(values.length, 'signed');
      encode(coded, 0, Float32Array.from(values));
      const back = new Float32Array(values.length);
      decode(coded, 0, back);
      for (const [i, value] of values.entries()) {
        const scale = coded.scales[Math.floor(i / codedBlock)]!;
        const step = Math.max(Math.abs(value) * 0.09, scale * 0.008);
        expect(Math.abs(back[i]! - value)).toBeLessThanOrEqual(step);
      }
    }),
  );
});
