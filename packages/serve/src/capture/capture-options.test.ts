import { expect, it } from 'vitest';
import { captureRollouts } from '../capture.ts';
import { scriptedPolicy } from '../served.fixture.ts';

it('refuses answers longer than the context', () => {
  const policy = scriptedPolicy(['Yes.']);
  const sampling = { maxTokens: policy.contextLength + 1 };
  expect(() => captureRollouts({ policy, run: async () => 'done', sampling })).toThrow(
    `\`sampling.maxTokens\` is ${sampling.maxTokens}, but the sampler's context holds ${policy.contextLength}`,
  );
});
