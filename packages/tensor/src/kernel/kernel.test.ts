import type { TensorOps } from '@rlp/core';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Arena } from '../arena.ts';
import { evaluate } from '../evaluate.ts';
import { type Matrix, matrixFromRows } from '../matrix.ts';
import { Tape } from '../tape.ts';
import { kernelMemory, ranInKernel } from './kernel.ts';
import { Region } from './region.ts';

type Compute = <T>(ops: TensorOps<T>, x: T, y: T) => T;

const computations: Readonly<Record<string, Compute>> = {
  add: (ops, x, y) => ops.add(x, y),
  sub: (ops, x, y) => ops.sub(x, y),
  mul: (ops, x, y) => ops.mul(x, y),
  div: (ops, x, y) => ops.div(x, y),
  minimum: (ops, x, y) => ops.minimum(x, y),
  maximum: (ops, x, y) => ops.maximum(x, y),
  greater: (ops, x, y) => ops.mul(ops.greater(x, y), x),
  greaterEqual: (ops, x, y) => ops.mul(ops.greaterEqual(x, y), y),
  where: (ops, x, y) => ops.where(x, y, ops.neg(y)),
  neg: (ops, x, y) => ops.mul(ops.neg(x), y),
  abs: (ops, x, y) => ops.mul(ops.abs(x), y),
  square: (ops, x, y) => ops.mul(ops.square(x), y),
  sqrt: (ops, x, y) => ops.mul(ops.sqrt(x), y),
  exp: (ops, x, y) => ops.mul(ops.exp(x), y),
  log: (ops, x, y) => ops.mul(ops.log(x), y),
  clip: (ops, x, y) => ops.mul(ops.clip(x, -1, 1), y),
};

/** Value and gradients; `'kernel'`: from buffers in its memory. */
function outcome(place: 'kernel' | 'plain', compute: Compute, [x, y, seed]: readonly Float64Array[]) {
  const region = place === 'kernel' ? new Region() : undefined;
  const arena = new Arena(region);
  const row = (numbers: Float64Array): Matrix => ({
    rows: 1,
    columns: numbers.length,
    data: arena.hold(numbers),
  });
  const tape = new Tape(arena);
  const [first, second] = [tape.variable(row(x!)), tape.variable(row(y!))];
  const output = compute(tape, first, second);
  tape.backward(output, row(seed!));
  expect(output.data.buffer === kernelMemory() ? 'kernel' : 'plain').toBe(place);
  const copies = [output, tape.gradient(first), tape.gradient(second)].map(({ data }) => data.slice());
  region?.close();
  return copies;
}

const number = fc.oneof(
  fc.double({ min: -3, max: 3 }),
  fc.constantFrom(0, -0, 1, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 5e-324),
);
const triple = fc
  .integer({ min: 1, max: 11 })
  .chain((length) =>
    fc.array(fc.array(number, { minLength: length, maxLength: length }), { minLength: 3, maxLength: 3 }),
  )
  .map((rows) => rows.map((row) => Float64Array.from(row)));

describe('the kernel', () => {
  it.each(Object.entries(computations))('gives the bits of the plain loops: %s', (_, compute) => {
    fc.assert(
      fc.property(triple, (rows) => {
        expect(outcome('kernel', compute, rows)).toEqual(outcome('plain', compute, rows));
      }),
      { numRuns: 60 },
    );
  });

  it('leaves alone what does not lie in its memory', () => {
    const region = new Region();
    const inside = region.take(2)!.fill(1);
    const outside = new Float64Array(2);
    expect(ranInKernel('addInto', [inside, outside])).toBe(false);
    expect([...outside]).toEqual([0, 0]);
    expect(ranInKernel('addInto', [inside, inside])).toBe(true);
    expect([...inside]).toEqual([2, 2]);
    region.close();
  });
});

const plus = {
  key: 'plus',
  columns: [],
  entropies: 'none' as const,
  compute: <T>(ops: TensorOps<T>, { logprobs }: { readonly logprobs: T }) => ({
    tokenLosses: ops.add(ops.square(logprobs), logprobs),
  }),
};
const [logprobs, ones] = [matrixFromRows([[1, 2, 3]]), matrixFromRows([[1, 1, 1]])];
const inputs = { logprobs, mask: ones, weights: ones };
const start = () => {
  const region = new Region();
  const { byteOffset } = region.take(1)!;
  region.close();
  return byteOffset;
};

describe('a region of the kernel’s memory', () => {
  it('is the evaluation’s alone, also while another runs inside of it', () => {
    const nested = {
      ...plus,
      compute<T>(ops: TensorOps<T>, given: { readonly logprobs: T }) {
        const before = ops.mul(given.logprobs, ops.constant(2));
        expect(evaluate(plus, inputs).value).toBe(20);
        return { tokenLosses: before };
      },
    };
    const { value, gradients } = evaluate(nested, inputs);
    expect([value, ...gradients.logprobs.data]).toEqual([12, 2, 2, 2]);
  });

  it('is given back when the loss throws', () => {
    const before = start();
    const failing = {
      ...plus,
      compute<T>(ops: TensorOps<T>, { logprobs: x }: { readonly logprobs: T }) {
        ops.exp(x);
        throw new Error('no loss');
      },
    };
    expect(() => evaluate(failing as never, inputs)).toThrow('no loss');
    expect(start()).toBe(before);
  });

  it('ends where the memory ends, and the plain loops go on', () => {
    const count = 400_000;
    const wide = { rows: 1, columns: count, data: new Float64Array(count).fill(0.5) };
    const { value, gradients } = evaluate(plus, { logprobs: wide, mask: wide, weights: wide });
    expect(value).toBe(count * 0.5 * 0.75);
    expect(new Set(gradients.logprobs.data)).toEqual(new Set([1]));
    expect(new Region().take(2 ** 21 + 1)).toBeUndefined();
  });
});

describe('without WebAssembly', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  it('evaluates by the plain loops', async () => {
    vi.stubGlobal('WebAssembly', undefined);
    vi.resetModules();
    const plain = await import('../evaluate.ts');
    const { kernelMemory: memory } = await import('./kernel.ts');
    expect(plain.evaluate(plus, inputs)).toEqual(evaluate(plus, inputs));
    expect(memory()).toBeUndefined();
  });
});
