import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Value } from '../graph/graph.ts';
import * as ops from '../ops.ts';
import { differentiate, finiteDifferences, normals, relativeError } from '../testing/evaluate.ts';

const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 0, maxLength: 4 });

/** A shape, and one that broadcasts with it: some axes 1, some leading ones missing. */
const broadcastPair = fc
  .tuple(sizes, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), fc.nat(4), fc.nat(4))
  .map(([shape, ones, dropLeft, dropRight]) => {
    const left = shape.map((size, axis) => (ones[axis] ? 1 : size)).slice(Math.min(dropLeft, shape.length));
    const right = shape
      .map((size, axis) => (ones[axis + 4] ? 1 : size))
      .slice(Math.min(dropRight, shape.length));
    return [left, right] as const;
  });

const binary: readonly ((a: Value, b: Value) => Value)[] = [
  ops.add,
  ops.sub,
  ops.mul,
  (a, b) => ops.div(a, ops.add(ops.square(b), 1)),
  ops.min,
  ops.max,
  (a, b) => ops.where(ops.greater(ops.add(a, b), 0), ops.mul(a, b), ops.sub(b, a)),
];

async function agrees(
  shapes: readonly (readonly number[])[],
  build: (values: readonly Value[]) => Value,
): Promise<void> {
  const inputs = shapes.map((shape, index) => normals(`input ${index}`, shape));
  const found = await differentiate({ inputs, build });
  const expected = await finiteDifferences(inputs, found.lossAt);
  for (const [index, gradient] of found.gradients.entries()) {
    expect(relativeError(gradient, expected[index]!)).toBeLessThan(1e-7);
  }
}

describe('for random shapes, gradients equal central differences in float64', () => {
  it('of element-wise operators under any broadcast', async () => {
    await fc.assert(
      fc.asyncProperty(broadcastPair, fc.nat(binary.length - 1), ([left, right], index) =>
        agrees([left, right], ([a, b]) => binary[index]!(a!, b!)),
      ),
      { numRuns: 60, seed: 1 },
    );
  });

  it('of matrix products with broadcast batches', async () => {
    const inner = fc.tuple(...[1, 2, 3].map(() => fc.integer({ min: 1, max: 3 })));
    await fc.assert(
      fc.asyncProperty(broadcastPair, inner, ([left, right], [m, k, n]) =>
        agrees(
          [
            [...left.slice(-2), m!, k!],
            [...right.slice(-2), k!, n!],
          ],
          ([a, b]) => ops.matmul(a!, b!),
        ),
      ),
      { numRuns: 25, seed: 2 },
    );
  });

  it('of reductions over any axes', async () => {
    const reductions = [ops.sum, ops.mean, ops.reduceMax, ops.reduceMin];
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        fc.nat(3),
        fc.constantFrom('yes' as const, 'no' as const),
        (shape, chosen, index, keepAxes) => {
          const axes = [...shape.keys()].filter((axis) => chosen[axis]);
          return agrees([shape], ([a]) => ops.mul(reductions[index]!(a!, { axes, keepAxes }), 2));
        },
      ),
      { numRuns: 40, seed: 3 },
    );
  });

  it('of gather along any axis, with duplicates', async () => {
    await fc.assert(
      fc.asyncProperty(
        sizes.filter((shape) => shape.length > 0),
        fc.nat(3),
        fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }),
        (shape, pick, numbers) => {
          const axis = pick % shape.length;
          const ids = numbers.map((number) => number % shape[axis]!);
          return agrees([shape], ([a]) =>
            ops.gather(a!, a!.graph.constant(ids, [ids.length], 'int64'), { axis }),
          );
        },
      ),
      { numRuns: 25, seed: 4 },
    );
  });
});
