import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AlgorithmName,
  algorithms,
  isThorough,
  type Lesson,
  seeds as tabularSeeds,
} from './runs.fixture.ts';
import { chanceOf, mean, pairedStatistic, upperTail } from './statistics.fixture.ts';
import { createPupil, type Pupil } from './transformer.fixture.ts';

/** A network takes thirty times as long as a table. */
const seeds = isThorough ? tabularSeeds : tabularSeeds.slice(0, 1);
const names = Object.keys(algorithms) as AlgorithmName[];
/** By day one of each kind climbs: with groups, with groups of steps and with a critic. Tables show that every algorithm learns. */
const onChain = isThorough ? names : (['GRPO', 'GiGPO', 'PPO'] as const);
const onBandit = isThorough ? names : (['REINFORCE'] as const);
let pupil: Pupil;
/** What the pupil has learned so far, by algorithm and seed. */
let learned: Map<string, number[]>;

async function begin(lesson: Lesson): Promise<void> {
  pupil = await createPupil(lesson);
  learned = new Map();
}

async function curvesOf(algorithm: AlgorithmName, count: number): Promise<number[][]> {
  const curves: number[][] = [];
  for (let seed = 1; seed <= count; seed++) {
    const key = `${algorithm} ${seed}`;
    const curve = learned.get(key) ?? (await pupil.learn(algorithm, String(seed)));
    learned.set(key, curve);
    curves.push(curve);
  }
  return curves;
}

describe('on a bandit, a transformer of one layer', () => {
  beforeAll(() => begin('bandit'));
  afterAll(() => pupil.close());

  it('begins by chance: three of seven moves are right', async () => {
    for (const seed of seeds) expect(Math.abs((await pupil.untrained(seed)) - 3 / 7)).toBeLessThan(0.05);
  });

  it.each(onBandit)(
    'learns what is right with %s: more than 70 %, every seed with p < 0.01',
    { timeout: 120_000 },
    async (algorithm) => {
      for (const curve of await curvesOf(algorithm, seeds.length)) expect(chanceOf(curve)).toBeLessThan(0.01);
    },
  );
});

describe('on a chain, a transformer of one layer', () => {
  beforeAll(() => begin('chain'));
  afterAll(() => pupil.close());

  it.each(onChain)(
    'learns to climb with %s: more than 70 %, every seed with p < 0.01',
    { timeout: 120_000 },
    async (algorithm) => {
      for (const curve of await curvesOf(algorithm, seeds.length)) {
        expect(curve[0]).toBeLessThan(0.7);
        expect(chanceOf(curve)).toBeLessThan(0.01);
      }
    },
  );

  // As on tables, but a network generalises where a table does not, so that there is less left to gain: the critic needs
  // eight seeds to be sure of it.
  const comparisons = [
    ['GiGPO', 'GRPO', 5],
    ['PPO', 'REINFORCE', 8],
  ] as const;
  it.each(isThorough ? comparisons : [])(
    'learns faster with %s than with %s: %i seeds, p < 0.05',
    { timeout: 120_000 },
    async (better, worse, count) => {
      const [winning, losing] = [await curvesOf(better, count), await curvesOf(worse, count)];
      const differences = winning.map((curve, seed) => mean(curve) - mean(losing[seed]!));
      expect(upperTail(pairedStatistic(differences), count - 1)).toBeLessThan(0.05);
    },
  );
});
