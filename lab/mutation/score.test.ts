import { describe, expect, it } from 'vitest';
import { score, wilsonInterval } from './score.ts';

const mutants = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).flatMap(([status, count]) => Array.from({ length: count }, () => ({ status })));

describe('score', () => {
  it('is the detected share, exact if all mutants were run', () => {
    const found = score(mutants({ Killed: 6, Timeout: 2, Survived: 1, NoCoverage: 1, Ignored: 5 }));
    expect(found).toMatchObject({ percent: 80, drawn: 9, reached: 9, unreached: 1 });
    expect(found.interval).toEqual([80, 80]);
  });

  it('of a sample stands for the mutants that were not drawn, and has an interval', () => {
    const found = score(mutants({ Killed: 30, Survived: 10, CompileError: 40, NoCoverage: 20 }));
    expect(found).toMatchObject({ percent: 60, drawn: 40, reached: 80 });
    // 0.8 times Wilson's interval of 30 of 40, 0.5981 to 0.8581.
    expect(found.interval[0]).toBeCloseTo(47.84, 1);
    expect(found.interval[1]).toBeCloseTo(68.65, 1);
  });

  it('of nothing is an error', () => {
    expect(() => score(mutants({ Ignored: 3 }))).toThrow('no mutant was run');
  });
});

it('a share of one has a lower bound below one', () => {
  expect(wilsonInterval(10, 10)[0]).toBeCloseTo(0.7225, 4);
  expect(wilsonInterval(10, 10)[1]).toBeCloseTo(1, 12);
});
