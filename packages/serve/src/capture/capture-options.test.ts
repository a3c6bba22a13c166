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

it('checks tasks and options of a collection when it is called', () => {
  const task = { id: 'a', prompt: 'a', metadata: undefined };
  const rollouts = captureRollouts({
    policy: scriptedPolicy(['a']),
    run: async () => '',
    transport: 'fetch',
  });
  expect(() => rollouts.collectGroups([task], { onGroups: 1 } as never)).toThrow('did you mean onGroup?');
  expect(() => rollouts.collectGroups(task as never)).toThrow('collectGroups: expected a list of tasks');
});
