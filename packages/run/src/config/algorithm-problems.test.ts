import { describe, expect, it } from 'vitest';
import { algorithmProblems } from './algorithm-problems.ts';

describe('algorithmProblems', () => {
  it.each([
    [{ critic: { clip: 0.2 } }, 'algorithm.critic: has no effect on grpo, which has no critic; leave it out'],
    [
      { name: 'ppo', critic: { warmupIterations: 2 } },
      'algorithm.critic.warmupIterations: needs a critic of',
    ],
    [
      { preset: 'tinker', loss: { correction: 'sequence-mask' } },
      "algorithm.proximal: 'behavior' needs loss.correction 'none'",
    ],
    [
      { preset: 'tinker', loss: { clipHigh: 0.3 } },
      "algorithm.loss.clipHigh: the surrogate 'importance-sampling' does not read it",
    ],
    [
      { name: 'rloo', loss: { clipHigh: 0.3 } },
      "algorithm.loss.clipHigh: the surrogate 'policy-gradient' does not read it",
    ],
    [
      { preset: 'verl', correctionNormalization: 'batch' },
      "which must not be 'none' (together with preset: 'verl')",
    ],
  ])('has what the algorithm would refuse of %j', (algorithm, problem) => {
    expect(algorithmProblems({ algorithm })).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    {},
    { preset: 'verl' },
    { name: 'ppo', preset: 'trl', critic: { clip: 0.2 } },
    { name: 'dr-grpo', iterations: 3, backend: { learningRate: 1e-3 } },
    { name: 'reinforce', preset: 'verl', variant: 'plain' },
  ])('has nothing to say of %j', (algorithm) => {
    expect(algorithmProblems({ algorithm })).toEqual([]);
  });

  it('leaves a section to the schema that is wrong by itself', () => {
    expect(algorithmProblems({ algorithm: { critic: { clip: 'x' } } })).toEqual([]);
    expect(algorithmProblems({})).toEqual([]);
  });
});
