import { existsSync, readFileSync } from 'node:fs';
import { ArgumentError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import loadWabt from 'wabt';

import { createKernels, scratchBytes } from './kernels.ts';
import { kernelsBase64 } from './kernels-binary.ts';
import { webAssembly } from './web-assembly.ts';

const memory = new webAssembly.Memory({ initial: 80, maximum: 80 });
const kernels = createKernels([memory]);
let next = scratchBytes;

/** A copy of some numbers inside the memory, from a 64-byte boundary. */
function inside(values: ArrayLike<number>): Float32Array {
  if (next + values.length * 4 + 64 > memory.buffer.byteLength) next = scratchBytes;
  const view = new Float32Array(memory.buffer, next, values.length);
  view.set(values);
  next += Math.ceil((values.length * 4) / 64) * 64;
  return view;
}

const outside = (values: ArrayLike<number>) => Float32Array.from(values);
const places = [
  ['in memory', inside],
  ['elsewhere', outside],
] as const;
const floats = fc.array(fc.float({ noNaN: true, min: -100, max: 100 }), { maxLength: 41 });

describe('kernels', () => {
  it('are what kernels.wat assembles to', async () => {
    const wabt = await loadWabt();
    const text = readFileSync(new URL('./kernels.wat', import.meta.url), 'utf8');
    const { buffer } = wabt.parseWat('kernels.wat', text, { simd: true }).toBinary({});
    expect(Buffer.from(buffer).toString('base64')).toBe(kernelsBase64);
  });

  describe.each(places)('%s', (_, place) => {
    it('sum squares in float64', () => {
      fc.assert(
        fc.property(floats, (values) => {
          let expected = 0;
          for (const value of values) expected += value * value;
          expect(kernels.sumOfSquares(place(values))).toBeCloseTo(expected, 6);
        }),
      );
      // In float32, a sum of 2^25 ones stops growing at 2^24.
      const many = place(new Float32Array(2 ** 18).fill(1));
      many[7] = 2 ** 14;
      expect(kernels.sumOfSquares(many)).toBe(2 ** 18 - 1 + 2 ** 28);
    });

    it.each(places)('combine with operands %s', (_name, other) => {
      fc.assert(
        fc.property(floats, (values) => {
          const y = place(values);
          kernels.combine(y, 0.5, other(values.map((value) => value + 1)), 0.25);
          values.forEach((value, i) => {
            expect(y[i]).toBeCloseTo(0.5 * value + 0.25 * Math.fround(value + 1), 4);
          });
        }),
      );
    });

    it.each(places)('combine long operands %s', (_name, other) => {
      const length = scratchBytes / 4 + 5;
      const y = place(new Float32Array(length).fill(2));
      kernels.combine(y, 1, other(Float32Array.from({ length }, (_, i) => i % 97)), 3);
      expect(y.every((value, i) => value === 2 + 3 * (i % 97))).toBe(true);
    });

    it.each(places)('add rows %s with many duplicates', (_name, other) => {
      fc.assert(
        fc.property(
          fc.array(fc.nat(4), { maxLength: 60 }),
          fc.integer({ min: 1, max: 9 }),
          (indices, width) => {
            const rows = Float32Array.from({ length: indices.length * width }, (_, i) => i);
            const expected = new Array<number>(5 * width).fill(1);
            indices.forEach((index, n) => {
              for (let i = 0; i < width; i++) expected[index * width + i]! += rows[n * width + i]!;
            });
            for (const list of [Int32Array.from(indices), BigInt64Array.from(indices, BigInt)]) {
              const target = place(new Array<number>(5 * width).fill(1));
              kernels.scatterAddRows(target, other(rows), list);
              expect([...target]).toEqual(expected);
            }
          },
        ),
      );
    });
  });

  it('add rows that do not fit the scratch at once, or at all', () => {
    for (const width of [scratchBytes / 8, scratchBytes / 4 + 1]) {
      const target = inside(new Float32Array(2 * width));
      const rows = Float32Array.from({ length: 3 * width }, (_, i) => Math.floor(i / width) + 1);
      kernels.scatterAddRows(target, rows, Int32Array.of(1, 0, 1));
      expect(target.every((value, i) => value === (i < width ? 2 : 4))).toBe(true);
    }
  });

  it('reject rows and indices that do not fit', () => {
    const target = inside(new Float32Array(6));
    expect(() => kernels.scatterAddRows(target, outside([1, 2, 3]), Int32Array.of(0, 1))).toThrow(
      ArgumentError,
    );
    expect(() => kernels.scatterAddRows(target, outside([1, 2, 3, 4]), Int32Array.of(0, 3))).toThrow(
      'scatterAddRows: indices[1] is 3, expected 0 to 2',
    );
    expect(() => kernels.scatterAddRows(target, outside([1, 2]), BigInt64Array.of(-1n))).toThrow(
      ArgumentError,
    );
    expect(() => kernels.combine(target, 1, outside([1]), 1)).toThrow(ArgumentError);
  });
});

const step = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1, update: 1 };

describe('adamw', () => {
  it('keeps padding at zero', () => {
    const [value, gradient, moment1, moment2] = [0, 0, 0, 0].map(() => inside(new Float32Array(7)));
    const state = { value: value!, gradient: gradient!, moment1: moment1!, moment2: moment2! };
    kernels.adamw(state, step);
    expect([...state.value, ...state.moment1, ...state.moment2]).toEqual(new Array(21).fill(0));
  });

  it.each(places)('takes a share of the gradient, %s', (_, place) => {
    const states = [1, 0.25].map((share) => {
      const [value, moment1, moment2] = [1, 2, 3].map((number) => place(new Float32Array(13).fill(number)));
      const gradient = place(Float32Array.from({ length: 13 }, (_, i) => share * (i - 6)));
      return { value: value!, gradient, moment1: moment1!, moment2: moment2! };
    });
    kernels.adamw(states[0]!, { ...step, gradientFactor: 0.25 });
    kernels.adamw(states[1]!, step);
    for (const name of ['value', 'moment1', 'moment2'] as const)
      expect([...states[0]![name]]).toEqual([...states[1]![name]]);
    expect([...states[0]!.gradient]).toEqual(Array.from({ length: 13 }, (_, i) => i - 6));
  });

  it('rejects what would make NaN, and lengths that differ', () => {
    const x = inside(new Float32Array(4));
    const state = { value: x, gradient: x, moment1: x, moment2: x };
    expect(() => kernels.adamw(state, { ...step, epsilon: 0 })).toThrow(/epsilon must be positive/);
    expect(() => kernels.adamw(state, { ...step, update: 0 })).toThrow(/an update of at least 1, got 0/);
    expect(() => kernels.adamw({ ...state, gradient: x.subarray(1) }, step)).toThrow(
      /gradient must have 4 elements/,
    );
  });

  const file = `${process.env.RLP_SHARED ?? new URL('../../../../../../shared', import.meta.url).pathname}/conformance/optimizers_torch.json`;
  if (!existsSync(file)) console.warn(`skipped: PyTorch's optimizer vectors are not at ${file}`);
  it.skipIf(!existsSync(file)).each(places)("follows PyTorch's, %s", (_, place) => {
    const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: OptimizerCase[] };
    const chosen = cases.filter(({ fn, params }) => fn === 'adamw' && !params.amsgrad);
    expect(chosen.length).toBeGreaterThan(5);
    for (const { inputs, params, expected } of chosen) {
      const initial = inputs.params.flat();
      const zeros = initial.map(() => 0);
      const [value, moment1, moment2] = [place(initial), place(zeros), place(zeros)];
      inputs.grads.forEach((gradients, index) => {
        const gradient = place(gradients.flat());
        const norm = Math.sqrt(kernels.sumOfSquares(gradient));
        expect(Math.abs(norm - expected.grad_norms[index]!)).toBeLessThanOrEqual(1e-6 * norm);
        const gradientFactor = params.max_norm === null ? 1 : Math.min(1, params.max_norm / (norm + 1e-6));
        kernels.adamw(
          { value, gradient, moment1, moment2 },
          {
            learningRate: params.lr,
            beta1: params.betas[0],
            beta2: params.betas[1],
            epsilon: params.eps,
            weightDecay: params.weight_decay,
            update: index + 1,
            gradientFactor,
          },
        );
        for (const [i, wanted] of expected.params_after[index]!.flat().entries()) {
          expect(Math.abs(value[i]! - wanted)).toBeLessThan(2e-6 * (1 + Math.abs(wanted)));
        }
      });
    }
  });
});

interface OptimizerCase {
  readonly fn: string;
  readonly inputs: { readonly params: number[][]; readonly grads: number[][][] };
  readonly params: {
    readonly lr: number;
    readonly betas: readonly [number, number];
    readonly eps: number;
    readonly weight_decay: number;
    readonly max_norm: number | null;
    readonly amsgrad: boolean;
  };
  readonly expected: { readonly grad_norms: number[]; readonly params_after: number[][][] };
}
