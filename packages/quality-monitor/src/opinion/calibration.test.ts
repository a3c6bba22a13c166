import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { initial } from '../state/saved.ts';
import { Calibration, type Pair, withPairs } from './calibration.ts';
import { SecondOpinion } from './second-opinion.ts';
import { opinionSchema } from './state.ts';

const random = RandomStream.named('calibration.test');

/** Pairs of ten batches, and a calibration long after them. */
function calibrated(pairAt: (at: number) => readonly [promise: number, score: number], count = 500) {
  const pairs = Array.from({ length: count }, (_, at): Pair => [...pairAt(at), at % 10]);
  return new Calibration(withPairs([], pairs), 20);
}

describe('Calibration', () => {
  it('predicts what a line predicts if the scores lie on one', () => {
    const line = calibrated(() => {
      const promise = random.uniform();
      return [promise, 3 * promise - 1];
    });
    // 1.5 is 3 · 0.8 − 1 plus 0.1, which is less than the deviation that is assumed at least.
    expect(line.below(0.8, 1.4)).toBeLessThan(0);
    expect(line.below(0.8, 0.4)).toBeGreaterThan(2);
  });

  it('follows a step that no line follows', () => {
    const step = calibrated(() => {
      const promise = random.uniform();
      return [promise, (promise > 0.9 ? 1 : 0) + 0.1 * random.normal()];
    });
    expect(step.below(0.97, 1)).toBeLessThan(0.5);
    expect(step.below(0.97, 0)).toBeGreaterThan(2);
    expect(step.below(0.5, 0)).toBeLessThan(0.5);
  });

  it('finds few promises among many others', () => {
    const rare = calibrated((at) =>
      at % 50 === 0 ? [1, 1 + 0.1 * random.normal()] : [0, 0.1 * random.normal()],
    );
    expect(rare.below(1, 0)).toBeGreaterThan(2);
    expect(rare.below(1, 1)).toBeLessThan(0.5);
  });

  it('sees no slope between promises that hardly differ', () => {
    // A line through the two groups would predict −2 for the second one. The mean of the 100 nearest is 0.64.
    const groups = calibrated((at) => (at % 40 === 0 ? [1.0001, -2] : [at % 2, at % 2]));
    expect(groups.below(1.0001, -2)).toBeGreaterThan(2);
    expect(groups.below(1.0001, 0.64)).toBeLessThan(0.1);
  });

  it('counts a batch four batches later, and needs four of them', () => {
    const pairs = Array.from({ length: 200 }, (_, at): Pair => [at % 2, at % 2, Math.floor(at / 40)]);
    expect(new Calibration(withPairs([], pairs), 7).below(1, 1)).toBeNaN();
    expect(new Calibration(withPairs([], pairs), 8).below(1, 1)).toBeLessThan(0.5);
  });

  it('forgets the oldest batches', () => {
    const pairs = Array.from({ length: 2500 }, (_, at): Pair => [random.uniform(), 0, Math.floor(at / 100)]);
    const kept = withPairs(pairs.slice(0, 1900), pairs.slice(1900));
    expect([kept.length, Math.min(...kept.map(([, , batch]) => batch))]).toEqual([2000, 5]);
  });
});

const unsuspected = { designEffect: 1, suspects: new Set<number>(), about: [] };

/** An opinion, and what it says of batches in which rewarded responses have a worth. */
function asked() {
  const opinion = new SecondOpinion(['judge'], { limit: 8, intended: new Set() }, initial(opinionSchema));
  const observe = (worth: number) => {
    const trajectories = Array.from({ length: 16 }, () => {
      const isPaid = random.uniform() < 0.5;
      const components = { judge: (isPaid ? worth : 0) + 0.3 * random.normal() };
      return { trajectory: {} as never, reward: isPaid ? 1 : 0, components };
    });
    const at = trajectories.flatMap(({ reward }, index) => (reward === 1 ? [index] : []));
    const priors = at.map(() => 0.05 + 0.75 * random.uniform());
    const judged = { ...unsuspected, at, weights: new Float32Array(16).fill(1), priors };
    opinion.gather(opinion.read(trajectories, judged), judged);
    return opinion.verdict('none').says === 'guilty';
  };
  return {
    opinion,
    observe: (worth: number, batches: number) => Array.from({ length: batches }, () => observe(worth)),
  };
}

describe('SecondOpinion', () => {
  it('convicts no reward that a verifier contradicts as often as ever, and one that it contradicts more', () => {
    for (const flaw of [0.03, 0.1]) {
      const opinion = new SecondOpinion(
        ['judge'],
        { limit: 7.6, intended: new Set() },
        initial(opinionSchema),
      );
      const isConvicted = (wrong: number) => {
        const trajectories = Array.from({ length: 24 }, () => {
          const isPaid = random.uniform() < 0.5;
          const judge = isPaid && random.uniform() >= wrong ? 1 : 0;
          return { trajectory: {} as never, reward: isPaid ? 1 : 0, components: { judge } };
        });
        const at = trajectories.flatMap(({ reward }, index) => (reward === 1 ? [index] : []));
        const priors = at.map(() => 0.25);
        const judged = { ...unsuspected, at, weights: new Float32Array(24).fill(1), priors };
        opinion.gather(opinion.read(trajectories, judged), judged);
        return opinion.verdict('none').says === 'guilty';
      };
      expect(Array.from({ length: 100 }, () => isConvicted(flaw))).not.toContain(true);
      expect(Array.from({ length: 12 }, () => isConvicted(flaw + 0.3))).toContain(true);
    }
  });

  it('convicts honest scores no more often than promised, and worthless ones at once', () => {
    let [alarms, found] = [0, 0];
    for (let run = 0; run < 20; run++) {
      const { observe } = asked();
      if (observe(1, 30).includes(true)) alarms += 1;
      if (observe(0, 2).includes(true)) found += 1;
    }
    // The bound is 20 runs · 2 sums · 30 batches · exp(−8), which is 0.4 alarms.
    expect(alarms).toBeLessThanOrEqual(1);
    expect(found).toBe(20);
  });

  it('is convicted by fewer responses if their text is suspicious', () => {
    const evidenceOf = (priors: readonly number[]) => {
      const opinion = new SecondOpinion(['judge'], { limit: 8, intended: new Set() }, initial(opinionSchema));
      const judged = { ...unsuspected, at: [0, 1, 2, 3], weights: new Float32Array(4).fill(1), priors };
      const distances = [1.5, 1.5, -0.5, -0.5].map((below) => ({ below, usual: [2, 1.125] }));
      opinion.gather(distances, judged);
      return opinion.share;
    };
    expect(evidenceOf([0.8, 0.8, 0.05, 0.05])).toBeGreaterThan(1.5 * evidenceOf([0.05, 0.05, 0.05, 0.05]));
    expect(evidenceOf([0.05, 0.05, 0.8, 0.8])).toBe(evidenceOf([0.05, 0.05, 0.05, 0.05]));
  });

  it('takes what is accepted for the new normal, and forgets what was rolled back', () => {
    const accepting = asked();
    accepting.observe(1, 12);
    expect(accepting.observe(0.2, 4).at(-1)).toBe(true);
    accepting.opinion.accept();
    expect(accepting.observe(0.2, 12)).not.toContain(true);
    const returning = asked();
    returning.observe(1, 12);
    returning.observe(0, 4);
    returning.opinion.forget();
    expect(returning.observe(1, 12)).not.toContain(true);
    expect(returning.observe(0, 3)).toContain(true);
  });
});
