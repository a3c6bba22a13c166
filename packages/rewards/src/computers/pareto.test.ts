import { ArgumentError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crowdingDistances, distanceToFrontier, paretoRanks, paretoRewards } from '../computers.ts';

const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.double({ min: -5, max: 5, noNaN: true }));
const points = fc
  .integer({ min: 1, max: 3 })
  .chain((size) =>
    fc.array(fc.array(value, { minLength: size, maxLength: size }), { minLength: 1, maxLength: 12 }),
  );

const dominates = (a: readonly number[], b: readonly number[]) =>
  a.every((x, f) => x >= b[f]!) && a.some((x, f) => x > b[f]!);

describe('paretoRanks', () => {
  it('peels fronts one by one, as a search by brute force does', () => {
    fc.assert(
      fc.property(points, (drawn) => {
        const expected = drawn.map(() => -1);
        for (let rank = 0; expected.includes(-1); rank++) {
          const left = drawn.flatMap((_, n) => (expected[n] === -1 ? [n] : []));
          const front = left.filter((n) => !left.some((other) => dominates(drawn[other]!, drawn[n]!)));
          for (const n of front) expected[n] = rank;
        }
        expect(paretoRanks(drawn)).toEqual(expected);
        const negated = drawn.map((point) => point.map((x) => -x));
        expect(paretoRanks(negated, { direction: 'minimize' })).toEqual(expected);
        expect(paretoRanks([...drawn].reverse())).toEqual([...expected].reverse());
      }),
    );
  });

  // The example of rl_primitives: two equal points of the first front.
  it('keeps duplicates together or sends them on', () => {
    const example = [
      [1, 2],
      [1, 0],
      [2, 0],
      [0, 1],
      [2, 0],
    ];
    expect(paretoRanks(example)).toEqual([0, 1, 0, 1, 0]);
    expect(paretoRanks(example, { duplicates: 'next-front' })).toEqual([0, 2, 0, 1, 1]);
    expect(paretoRanks([])).toEqual([]);
  });

  it('names the point that is wrong', () => {
    expect(() => paretoRanks([[1], [1, 2]])).toThrow(ArgumentError);
    expect(() => paretoRanks([[1], [Number.NaN]])).toThrow(/points\[1\]\[0\].*NaN/);
  });
});

describe('crowdingDistances', () => {
  it('is infinite at the ends and the normalised gap between neighbours inside', () => {
    const front = [
      [0, 4],
      [1, 2],
      [4, 0],
    ];
    expect(crowdingDistances(front)).toEqual([Number.POSITIVE_INFINITY, 2, Number.POSITIVE_INFINITY]);
    expect(crowdingDistances(front, { convention: 'pymoo' })[1]).toBe(1);
    expect(crowdingDistances([[1, 1]])).toEqual([Number.POSITIVE_INFINITY]);
  });

  it('is shared by equal values, and not counted where all are equal', () => {
    const front = [
      [0, 9, 7],
      [1, 5, 7],
      [1, 4, 7],
      [4, 0, 7],
    ];
    const [first, ...inner] = crowdingDistances(front);
    expect([first, inner.pop()]).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
    // Half of the gap of 4 in 4 around the value 1; 5 of 9 around 5 and around 4.
    for (const distance of inner) expect(distance).toBeCloseTo(0.5 + 5 / 9, 12);
  });

  it('is infinite for equal points, which are all ends', () => {
    const ends = Array(3).fill(Number.POSITIVE_INFINITY);
    expect(crowdingDistances(Array(3).fill([2, 2]))).toEqual(ends);
    expect(crowdingDistances([])).toEqual([]);
  });

  it('is infinite for one or two points and takes equal values in their order, as in pymoo', () => {
    const pymoo = (front: number[][]) => crowdingDistances(front, { convention: 'pymoo' });
    expect(pymoo([[2, 2]])).toEqual([Number.POSITIVE_INFINITY]);
    expect(pymoo(Array(2).fill([2, 2]))).toEqual(Array(2).fill(Number.POSITIVE_INFINITY));
    expect(pymoo(Array(3).fill([2, 2]))).toEqual([0, 0, 0]);
    const shared = [[0], [1], [1], [1], [4]];
    expect(pymoo(shared).slice(1, 4)).toEqual([1 / 4, 0, 3 / 4]);
  });

  it('treats equal points alike, whatever the order', () => {
    fc.assert(
      fc.property(points, (front) => {
        const distances = crowdingDistances(front);
        const backwards = crowdingDistances([...front].reverse()).reverse();
        for (const [n, distance] of distances.entries()) {
          if (distance === Number.POSITIVE_INFINITY) expect(backwards[n]).toBe(distance);
          else expect(backwards[n]).toBeCloseTo(distance, 9);
          for (const [other, point] of front.entries()) {
            if (point.every((x, f) => x === front[n]![f]!)) expect(distances[other]).toBe(distance);
          }
        }
        const mirrored = crowdingDistances(front.map((point) => point.map((x) => -x)));
        for (const [n, distance] of distances.entries()) {
          if (Number.isFinite(distance)) expect(mirrored[n]).toBeCloseTo(distance, 9);
          else expect(mirrored[n]).toBe(distance);
        }
      }),
    );
  });
});

describe('paretoRewards', () => {
  it('rewards by front, and inside a front by loneliness if told to', () => {
    const drawn = [[0, 4], [1, 2], [1.1, 1.9], [4, 0], null, [0, 0]];
    expect(paretoRewards(drawn)).toEqual([1, 1, 1, 1, null, 0.5]);
    const told = paretoRewards(drawn, { tieBreak: 'crowding' });
    expect(told[0]).toBe(1);
    expect(told[3]).toBe(1);
    expect(told[5]).toBe(0.5);
    expect(Math.min(told[1]!, told[2]!)).toBe(1 - 0.75 / 2);
  });

  it('stays in 0..1 and never rewards a dominated point as much', () => {
    const tieBreak = fc.constantFrom('none' as const, 'crowding' as const);
    fc.assert(
      fc.property(points, tieBreak, (drawn, how) => {
        const rewards = paretoRewards(drawn, { tieBreak: how }) as number[];
        for (const [a, first] of drawn.entries()) {
          expect(rewards[a]).toBeGreaterThan(0);
          expect(rewards[a]).toBeLessThanOrEqual(1);
          for (const [b, second] of drawn.entries()) {
            if (dominates(first, second)) expect(rewards[a]).toBeGreaterThan(rewards[b]!);
          }
        }
      }),
    );
    expect(paretoRewards([null])).toEqual([null]);
    expect(paretoRewards([])).toEqual([]);
  });
});

describe('distanceToFrontier', () => {
  it('is that to the nearest point', () => {
    expect(
      distanceToFrontier(
        [0, 0],
        [
          [3, 4],
          [0, 6],
        ],
      ),
    ).toBe(5);
    expect(distanceToFrontier([1], [])).toBe(0);
  });
});
