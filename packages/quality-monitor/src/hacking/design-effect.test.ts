import type { ScoredTrajectory } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { clustersOf, DesignEffect } from './design-effect.ts';
import { initialState } from './state.ts';

const clusters = (tasks: readonly string[]) => {
  const { numbers, of } = clustersOf(
    tasks.map((id) => ({ trajectory: { task: { id } } }) as ScoredTrajectory),
  );
  return { numbers: [...numbers], of };
};

describe('clustersOf', () => {
  it('are the tasks, or eight side by side where each response is a task of its own', () => {
    expect(clusters(['a', 'b', 'a', 'c'])).toEqual({ numbers: [0, 1, 0, 2], of: 'tasks' });
    const alone = clusters(Array.from({ length: 18 }, (_, at) => `${at}`));
    expect(alone.of).toBe('neighbours');
    expect(alone.numbers).toEqual([...new Array(8).fill(0), ...new Array(8).fill(1), 2, 2]);
  });
});

describe('DesignEffect', () => {
  const tasks = { numbers: Uint32Array.of(0, 0, 0, 0, 1, 1, 1, 1), of: 'tasks' } as const;

  it('is presumed from how many rewarded responses a task has', () => {
    const effect = new DesignEffect(initialState().evidence.designEffect);
    effect.setPrior(tasks, Float32Array.of(1, 1, 1, 1, -1, -1, -1, -1));
    // Four of one task: 1 + (4 − 1) / 4.
    expect(effect.of(0)).toBe(1.75);
    effect.setPrior(tasks, Float32Array.of(1, -1, -1, -1, 1, -1, -1, -1));
    expect(effect.of(0)).toBe(1);
  });

  it('becomes what was seen, 1 to 8', () => {
    const effect = new DesignEffect(initialState().evidence.designEffect);
    for (let batch = 0; batch < 300; batch++) {
      effect.learn(0, 3, 1);
      effect.learn(1, 0.2, 1);
      effect.learn(2, 50, 1);
    }
    // 50 batches' worth, and 2 hits that were presumed: (2 + 150) / (2 + 50).
    expect(effect.of(0)).toBeCloseTo(152 / 52, 2);
    expect(effect.of(1)).toBe(1);
    expect(effect.of(2)).toBe(8);
  });

  it('of neighbours is presumed to be that of all signals', () => {
    const effect = new DesignEffect(initialState().evidence.designEffect);
    for (let batch = 0; batch < 300; batch++) effect.learn(0, 4, 1);
    effect.setPrior({ ...tasks, of: 'neighbours' }, new Float32Array(8));
    expect(effect.of(5)).toBeCloseTo(202 / 52, 1);
  });
});
