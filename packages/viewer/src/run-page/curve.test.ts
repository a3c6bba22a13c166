import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bandOf, drawnAt, over, positions, smoothed, thinned } from './curve.ts';

const curve = (...values: number[]) => ({ steps: values.map((_, at) => at), values });

describe('thinned', () => {
  it('keeps ends and extremes within the limit', () => {
    const values = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
      minLength: 1,
      maxLength: 400,
    });
    fc.assert(
      fc.property(values, fc.integer({ min: 4, max: 60 }), (values, most) => {
        const few = thinned(curve(...values), most);
        expect(few.steps.length).toBeLessThanOrEqual(most);
        expect(few.steps).toEqual([...few.steps].sort((a, b) => a - b));
        expect(few.steps[0]).toBe(0);
        expect(few.steps.at(-1)).toBe(values.length - 1);
        expect(few.values).toEqual(few.steps.map((step) => values[step]));
        expect(Math.max(...few.values)).toBe(Math.max(...values));
        expect(Math.min(...few.values)).toBe(Math.min(...values));
      }),
    );
  });
});

it('smooths without a pull towards zero at the start', () => {
  expect(smoothed([3, 3, 3], 0.9)).toEqual([3, 3, 3].map((value) => expect.closeTo(value, 12)));
  expect(smoothed([1, 2, 4], 0)).toEqual([1, 2, 4]);
  expect(smoothed([0, 1], 0.5)[1]).toBeCloseTo(2 / 3, 12);
});

it('draws curves over tokens, and nothing where tokens are unknown', () => {
  const tokens = { steps: [0, 10], values: [0, 1000] };
  expect(over({ steps: [0, 5, 20], values: [1, 2, 3] }, tokens)).toEqual({ steps: [0, 500], values: [1, 2] });
  expect(over(curve(1), undefined)).toEqual({ steps: [], values: [] });
});

it('aligns curves of different steps', () => {
  const [a, b] = [curve(0, 1, 2), { steps: [1, 3], values: [5, 7] }];
  const xs = positions([a, b]);
  expect(xs).toEqual([0, 1, 2, 3]);
  expect(drawnAt(b, xs)).toEqual([null, 5, 6, 7]);
  expect(bandOf([a, b], xs)).toEqual({ mean: [0, 3, 4, 7], low: [0, 1, 2, 7], high: [0, 5, 6, 7] });
  const every = (count: number, first: number) => Array.from({ length: count }, (_, at) => first + at);
  const positionsOf = (...steps: number[][]) => positions(steps.map((steps) => ({ steps, values: [] })));
  expect(positionsOf(every(9000, 0))).toHaveLength(4000);
  expect(positionsOf(...Array.from({ length: 20 }, (_, run) => every(300, 300 * run)))).toHaveLength(1200);
  expect(positionsOf(...Array.from({ length: 20 }, (_, run) => every(70, 70 * run)))).toHaveLength(1000);
});
