import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { binomialTail, regularizedBeta, twoSidedQuantile } from './distributions.ts';
import { meanOfTasks, measureOf, shareOf, wilsonInterval } from './intervals.ts';

describe('distributions', () => {
  // Values of scipy 1.16: stats.t.ppf, stats.norm.ppf, stats.beta.cdf, stats.binomtest.
  it.each([
    [0.95, 1, 12.706204736174694],
    [0.95, 2, 4.302652729749462],
    [0.95, 9, 2.262157162798205],
    [0.99, 30, 2.7499956535672254],
    [0.9, 400, 1.648671941465414],
    [0.95, 5000, 1.9604385517065073],
    [0.5, Infinity, 0.6744897501960817],
    [0.95, Infinity, 1.959963984540054],
    [0.999, Infinity, 3.2905267314919255],
  ])('the quantile at %d with %d degrees is that of scipy', (confidence, degrees, expected) => {
    expect(twoSidedQuantile(confidence, degrees) / expected - 1).toBeCloseTo(0, 8);
  });

  it.each([
    [0.3, 2, 5, 0.5798250000000003],
    [0.99, 0.5, 0.5, 0.9362314391414803],
    [0.5, 100, 120, 0.9117960627949818],
    [0.01, 3, 700, 0.9713590757039612],
  ])('I_%d(%d, %d) is that of scipy', (x, a, b, expected) => {
    expect(regularizedBeta(x, a, b)).toBeCloseTo(expected, 11);
    expect(regularizedBeta(1 - x, b, a)).toBeCloseTo(1 - expected, 11);
  });

  it('sums the tail of a binomial distribution', () => {
    expect(2 * binomialTail(10, 13, 0.5)).toBeCloseTo(0.09228515625, 12);
    expect(2 * binomialTail(130, 200, 0.5)).toBeCloseTo(2.6528755595268727e-5, 14);
    expect(binomialTail(0, 0, 0.5)).toBe(1);
  });
});

describe('intervals', () => {
  // scipy 1.16: stats.binomtest(k, n).proportion_ci(0.95, method='wilson').
  it.each([
    [0, 10, 0, 0.27753279986288926],
    [1, 10, 0.017876213095072896, 0.4041500267952385],
    [37, 40, 0.8013576647568945, 0.9741639742254118],
    [640, 1319, 0.45832661896694943, 0.5121913900204855],
    [5, 5, 0.5655175352168251, 1],
  ])('of %d right answers of %d is that of scipy', (right, tasks, low, high) => {
    const measure = shareOf(
      Array.from({ length: tasks }, (_, task) => [task < right ? 1 : 0]),
      0.95,
    )!;
    expect(measure).toMatchObject({ interval: 'wilson', tasks, responses: tasks, value: right / tasks });
    expect([measure.low, measure.high]).toEqual([expect.closeTo(low, 8), expect.closeTo(high, 8)]);
  });

  it('of several responses per task is as wide as one response per task if responses agree', () => {
    const agreeing = Array.from({ length: 100 }, (_, task) =>
      Array.from({ length: 8 }, () => Number(task < 30)),
    );
    const { low, high } = shareOf(agreeing, 0.95)!;
    const [wilsonLow, wilsonHigh] = wilsonInterval(0.3, 99, twoSidedQuantile(0.95, 99));
    expect([low, high]).toEqual([wilsonLow, wilsonHigh]);
  });

  it('counts every response of tasks that do not differ, and never more', () => {
    const alike = Array.from({ length: 50 }, () => [1, 0, 1, 0]);
    const { low, high } = shareOf(alike, 0.95)!;
    expect([low, high]).toEqual(wilsonInterval(0.5, 200, twoSidedQuantile(0.95, 49)));
    const all = shareOf(
      alike.map(() => [1, 1, 1, 1]),
      0.95,
    )!;
    expect([all.low, all.high]).toEqual(wilsonInterval(1, 50, twoSidedQuantile(0.95, 49)));
    const mixed = shareOf([...alike, [1, 1, 0, 0], [1, 0, 0, 0]], 0.95)!;
    const [narrowLow, narrowHigh] = wilsonInterval(mixed.value, mixed.responses, twoSidedQuantile(0.95, 51));
    expect(mixed.low).toBeCloseTo(narrowLow, 12);
    expect(mixed.high).toBeCloseTo(narrowHigh, 12);
  });

  it('contains the truth as often as it says, although responses to a task go together', () => {
    const stream = RandomStream.named('coverage');
    const rounds = 400;
    let [covered, naive] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      // Difficulties of tasks are uniform, so the share is 1/2.
      const scores = Array.from({ length: 40 }, () => {
        const difficulty = stream.uniform();
        return Array.from({ length: 8 }, () => Number(stream.uniform() < difficulty));
      });
      const { value, low, high } = shareOf(scores, 0.9)!;
      if (low! <= 0.5 && 0.5 <= high!) covered += 1;
      const [from, to] = wilsonInterval(value, 320, twoSidedQuantile(0.9, Infinity));
      if (from <= 0.5 && 0.5 <= to) naive += 1;
    }
    // Three standard errors around 0.9 with 400 rounds.
    expect(Math.abs(covered / rounds - 0.9)).toBeLessThan(0.045);
    expect(naive / rounds).toBeLessThan(0.75);
  });

  it('of graded scores is that of Student over the tasks', () => {
    const measure = meanOfTasks([[0.5], [0.25, 0.75], [1, 1, 1], [0]], 0.95)!;
    // scipy: stats.t.interval(0.95, 3, loc=0.5, scale=stats.sem([0.5, 0.5, 1, 0]))
    expect(measure).toMatchObject({ value: 0.5, interval: 't', tasks: 4, responses: 7 });
    expect(measure.high).toBeCloseTo(0.5 + 3.182446305284263 * 0.20412414523193154, 10);
    expect(measureOf([[0.5], [1]], 0.95)?.interval).toBe('t');
    expect(measureOf([[1], [0]], 0.95)?.interval).toBe('wilson');
  });

  it('is absent where nothing or one task was scored', () => {
    expect([shareOf([], 0.95), meanOfTasks([], 0.95)]).toEqual([undefined, undefined]);
    expect(meanOfTasks([[0.2, 0.4]], 0.95)).not.toHaveProperty('low');
    expect(shareOf([[1, 0]], 0.95)).not.toHaveProperty('low');
    expect(shareOf([[1]], 0.95)).toMatchObject({ value: 1, high: 1, interval: 'wilson' });
  });
});
