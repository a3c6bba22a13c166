import type { Evaluation } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { compareEvaluations } from '../evaluate.ts';

/** An evaluation with these responses by task. */
function evaluation(correct: readonly (readonly boolean[])[]): Evaluation {
  const samples = correct[0]!.length;
  return {
    record: 'evaluation',
    ...{ name: 'test', seed: 's', policyVersion: 0, samples, confidence: 0.95, accuracy: 0.5 },
    components: {},
    unscored: { count: 0, causes: {} },
    notes: [],
    tasks: correct.map((right, task) => ({
      task: `${task}`,
      correct: right,
      rewards: right.map(Number),
      components: {},
      tokens: right.map(() => 1),
    })),
  };
}

/** Tasks of which `better` are right only the second time, and `worse` only the first. */
function pair(better: number, worse: number, equal: number): [Evaluation, Evaluation] {
  const rows = [
    ...Array.from({ length: better }, () => [false, true] as const),
    ...Array.from({ length: worse }, () => [true, false] as const),
    ...Array.from({ length: equal }, () => [true, true] as const),
  ];
  return [evaluation(rows.map(([a]) => [a])), evaluation(rows.map(([, b]) => [b]))];
}

describe('compareEvaluations', () => {
  // scipy 1.16: stats.binomtest(better, better + worse, 0.5).pvalue
  it.each([
    [3, 10, 0.09228515625],
    [25, 12, 0.04703102743951604],
    [1, 0, 1],
    [0, 0, 1],
    [70, 130, 2.6528755595268727e-5],
  ])('of %d better and %d worse tasks has the p of the exact McNemar test', (better, worse, p) => {
    const comparison = compareEvaluations(...pair(better, worse, 5));
    expect(comparison).toMatchObject({ test: 'mcnemar', better, worse, equal: 5, measure: 'accuracy' });
    expect(comparison.pValue).toBeCloseTo(p, 10);
    expect(comparison.difference).toBeCloseTo((better - worse) / (better + worse + 5), 12);
  });

  it('has an interval that agrees with the normal one for many tasks', () => {
    const { low, high, difference } = compareEvaluations(...pair(300, 200, 500));
    const half = 1.96 * Math.sqrt((0.5 - 0.1 ** 2) / 1000);
    expect([low, high]).toEqual([expect.closeTo(difference - half, 2), expect.closeTo(difference + half, 2)]);
  });

  // contingencytables 3.0 (R), Newcombe's square-and-add interval of Cavo et al. 2012: 0.0046 to 0.1186
  it("has Newcombe's interval of one response per task", () => {
    const rows = [
      ...Array.from({ length: 59 }, () => [true, true] as const),
      ...Array.from({ length: 6 }, () => [true, false] as const),
      ...Array.from({ length: 16 }, () => [false, true] as const),
      ...Array.from({ length: 80 }, () => [false, false] as const),
    ];
    const [first, second] = [evaluation(rows.map(([a]) => [a])), evaluation(rows.map(([, b]) => [b]))];
    const { low, high, difference } = compareEvaluations(first, second);
    expect([low, high]).toEqual([expect.closeTo(0.0046, 4), expect.closeTo(0.1186, 4)]);
    const turned = compareEvaluations(second, first);
    expect([turned.difference, turned.low, turned.high].map((value) => -value!)).toEqual([
      expect.closeTo(difference, 12),
      expect.closeTo(high!, 12),
      expect.closeTo(low!, 12),
    ]);
  });

  it('has a width if no task differs, and less of it with more tasks', () => {
    const [few, many] = [20, 200].map((equal) => compareEvaluations(...pair(0, 0, equal)));
    expect(few!.low).toBeCloseTo(-few!.high!, 12);
    // All right: Wilson's interval reaches down by z²/(n + z²).
    expect(few!.high).toBeCloseTo(1.959964 ** 2 / (20 + 1.959964 ** 2), 6);
    expect(many!.high).toBeLessThan(few!.high! / 5);
  });

  it('has no interval if tasks with several responses differ equally', () => {
    const first = evaluation(Array.from({ length: 12 }, () => [true, false]));
    expect(compareEvaluations(first, first)).not.toHaveProperty('low');
  });

  it('permutes signs where tasks have several responses', () => {
    const first = evaluation(Array.from({ length: 12 }, () => [true, false, false, false]));
    const second = evaluation(Array.from({ length: 12 }, () => [true, true, false, false]));
    const comparison = compareEvaluations(first, second);
    expect(comparison).toMatchObject({ test: 'permutation', difference: 0.25, better: 12 });
    // All signs alike has probability 2 / 2^12.
    expect(comparison.pValue).toBeLessThan(0.005);
    expect(compareEvaluations(first, first).pValue).toBe(1);
    expect(compareEvaluations(first, second)).toEqual(comparison);
  });

  it('asks for records', () => {
    expect(() => compareEvaluations({} as never, evaluation([[true]]))).toThrow(
      'compareEvaluations: expected two records that evaluate returned',
    );
  });

  it('compares the tasks that both scored', () => {
    const [first, second] = pair(2, 1, 4);
    const fewer = { ...second, tasks: second.tasks.slice(1) };
    expect(compareEvaluations(first, fewer)).toMatchObject({ tasks: 6, better: 1 });
    expect(() => compareEvaluations(first, { ...second, tasks: [] })).toThrow('no scored task in common');
  });
});
