import { describe, expect, it } from 'vitest';
import {
  type AlgorithmName,
  algorithms,
  comparisons,
  isThorough,
  type Lesson,
  learningCurve,
  seeds,
} from './runs.fixture.ts';
import { binomialTail, chanceOf, mean, pairedStatistic, upperTail } from './statistics.fixture.ts';

const names = Object.keys(algorithms) as AlgorithmName[];

const learned = new Map<string, Promise<number[][]>>();

function curvesOf(algorithm: AlgorithmName, lesson: Lesson): Promise<number[][]> {
  const key = `${algorithm} ${lesson}`;
  const curves =
    learned.get(key) ?? Promise.all(seeds.map((seed) => learningCurve(algorithm, { lesson, seed })));
  learned.set(key, curves);
  return curves;
}

describe('on a bandit', () => {
  // Three of seven moves are right (43 %). Learning nothing, the last 96 answers would have a standard deviation of 5 %: the
  // bound of 85 % lies eight of them away, for each seed.
  it.each(names)('%s learns what is right, every seed', async (algorithm) => {
    for (const curve of await curvesOf(algorithm, 'bandit')) {
      expect(mean(curve.slice(-3))).toBeGreaterThan(0.85);
    }
  });
});

describe('on a chain with one reward at its end', () => {
  it.each(names)('%s learns to climb: more than 70 %, every seed with p < 0.01', async (algorithm) => {
    for (const curve of await curvesOf(algorithm, 'chain')) {
      expect(curve[0]).toBeLessThan(0.7);
      expect(chanceOf(curve)).toBeLessThan(0.01);
    }
  });

  // What is compared is the share of episodes that succeeded in the whole run, so how fast it was learned. Both have the same
  // seeds, tasks, sizes and learning rates, one update per iteration, and differ in their estimators alone.
  it.each(comparisons)(
    '%s learns faster than %s, every seed, and with all of them p < 0.01',
    { timeout: 120_000 },
    async (better, worse) => {
      const [winning, losing] = await Promise.all([curvesOf(better, 'chain'), curvesOf(worse, 'chain')]);
      const differences = winning.map((curve, seed) => mean(curve) - mean(losing[seed]!));
      expect(Math.min(...differences)).toBeGreaterThan(0);
      if (isThorough) expect(upperTail(pairedStatistic(differences), seeds.length - 1)).toBeLessThan(0.01);
    },
  );
});

it('the probabilities of the tests are those of tables', () => {
  expect(binomialTail(8, 10, 0.5)).toBeCloseTo(0.0546875, 12);
  expect(binomialTail(79, 96, 0.7)).toBeCloseTo(0.004382885399, 12);
  expect(upperTail(2.132, 4)).toBeCloseTo(0.05, 4);
  expect(upperTail(3.747, 4)).toBeCloseTo(0.01, 4);
  expect(upperTail(1.729, 19)).toBeCloseTo(0.05, 4);
  expect(pairedStatistic([1, 2, 3])).toBeCloseTo(2 * Math.sqrt(3), 12);
});
