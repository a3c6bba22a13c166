import type { Environment } from '@rlp/core';
import { expect, it } from 'vitest';
import { RolloutManager } from './index.ts';
import { mockEnvironment, mockPolicy } from './testing.ts';

it('`onEnded` is called with what ended by itself, and not with what was aborted', async () => {
  const controller = new AbortController();
  let answers = 0;
  // Three members are asked for the first turn at once, the two that go on one by one.
  const policy = mockPolicy({
    speak: () => (answers++ === 0 ? 'last' : 'more'),
    delay({ count }) {
      if (count > 1) return 0;
      setTimeout(() => controller.abort(new Error('enough')), 5);
      return 20;
    },
  });
  const environment: Environment = {
    ...mockEnvironment(),
    isTerminal: ({ stepCount, response }) => stepCount === 3 || response === 'last',
  };
  const manager = new RolloutManager({ environment, ...policy }, { groupSize: 3 });
  const ended: string[] = [];
  const statuses: string[] = [];
  const groups = manager.collectGroups([{ id: 'a', prompt: 'Why?', metadata: undefined }], {
    signal: controller.signal,
    onEnded: ({ id }) => void ended.push(id),
  });
  for await (const { trajectories } of groups) statuses.push(...trajectories.map(({ status }) => status));
  expect(statuses).toEqual(['completed', 'aborted', 'aborted']);
  expect(ended).toEqual(['0/a/0']);
});
