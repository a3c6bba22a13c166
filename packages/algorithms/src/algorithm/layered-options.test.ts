import { describe, expect, it } from 'vitest';
import { algorithmOptions } from './layered-options.ts';

describe('algorithmOptions', () => {
  it('has what an algorithm trains with if nothing is given', () => {
    expect(algorithmOptions('grpo')).toEqual({});
    expect(algorithmOptions('ppo')).toMatchObject({
      tasksPerIteration: 64,
      epochs: 4,
      rollout: { groupSize: 1 },
    });
    expect(algorithmOptions('gspo').minibatches).toBe(4);
    const rollout = { sampling: { maxTokens: 9 } };
    expect(algorithmOptions('dr-grpo', { rollout }).aggregationConstant).toBe(9);
  });

  it('has the caller’s options over those of the preset over the algorithm’s own', () => {
    const { epochs, minibatches, loss } = algorithmOptions('ppo', {
      preset: 'verl',
      minibatches: 2,
      loss: { clipHigh: 0.3 },
    });
    expect([epochs, minibatches, loss?.clipLow, loss?.clipHigh]).toEqual([1, 2, 0.2, 0.3]);
    expect(algorithmOptions('reinforce', { preset: 'openrlhf' }).rewardKl?.coefficient).toBe(0.01);
  });

  it('refuses nothing: that is for the schemas', () => {
    expect(algorithmOptions('grpo', { preset: 'vrel', loss: 3 } as never)).toMatchObject({ loss: 3 });
    expect(algorithmOptions('dr-grpo', { rollout: 3 } as never)).toMatchObject({ rollout: 3 });
  });
});
