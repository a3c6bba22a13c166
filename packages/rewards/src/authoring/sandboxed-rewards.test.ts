import type { Trajectory } from '@rlp/core';
import { createSandbox } from '@rlp/sandbox';
import { afterAll, describe, expect, it } from 'vitest';
import { sandboxedRewards } from './sandboxed-rewards.ts';

const sandbox = createSandbox({ timeoutMs: 10_000 });
afterAll(() => sandbox.close());

describe('sandboxedRewards', () => {
  const trajectory = (response: string, member: number): Trajectory<{ answer: string }> => ({
    id: `g/${member}`,
    task: { id: 't', prompt: 'q', metadata: { answer: '4' } },
    steps: [
      {
        ...{ promptTokens: [1], tokens: [2], behaviorLogprobs: [-1], text: response, stopReason: 'stop' },
      },
    ],
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: response },
    ],
    response,
    status: response === 'gone' ? 'aborted' : 'completed',
    policyVersion: 0,
  });
  const group = (responses: readonly string[]) => {
    const trajectories = responses.map(trajectory);
    return { id: 'g', task: trajectories[0]!.task, trajectories };
  };

  it('judges one conversation at a time, with its steps', async () => {
    const rewards = sandboxedRewards<{ answer: string }>({
      sandbox,
      groundTruth: ({ answer }) => answer,
      parameters: { bonus: 0.5 },
      code: `(messages, groundTruth, { bonus }) => {
        const said = messages.at(-1).content;
        if (said === 'crash') throw new Error('no');
        if (said === 'text') return 'good';
        if (said === 'unsure') return null;
        return { score: said === groundTruth ? 1 : 0, stepOutputs: [{ stepIndex: 0, baseReward: bonus, metrics: {} }] };
      }`,
    });
    const scored = await rewards.computeRewards(group(['4', '5', 'crash', 'text', 'unsure', 'gone']));
    expect(scored.map(({ reward }) => reward)).toEqual([1, 0, null, null, null, null]);
    expect(scored[0]?.trajectory.steps[0]?.reward).toBe(0.5);
    expect(rewards.getStatistics()).toMatchObject({
      calls: 5,
      failures: { threw: 2 },
      causes: { threw: 1 },
    });
  });

  it('judges a group at once', async () => {
    const rewards = sandboxedRewards<{ answer: string }>({
      sandbox,
      mode: 'batch',
      code: `(conversations, metadata) => {
        const lengths = conversations.map((messages) => messages.at(-1).content.length);
        return lengths.map((length, k) => length / Math.max(...lengths) + Number(metadata[k].answer));
      }`,
    });
    const scored = await rewards.computeRewards(group(['a', 'gone', 'aaaa']));
    expect(scored.map(({ reward }) => reward)).toEqual([4.25, null, 5]);
    const short = sandboxedRewards({ sandbox, mode: 'batch', code: '() => [1]' });
    expect((await short.computeRewards(group(['a', 'b']))).map(({ reward }) => reward)).toEqual([null, null]);
    expect(short.getStatistics().lastFailure).toBe('reward "sandboxed": expected 2 judgements, got 1');
  });

  it.each(['pointwise', 'batch'] as const)(
    'leaves out what it cannot tell the code about, %s',
    async (mode) => {
      const rewards = sandboxedRewards<{ answer: string }>({
        sandbox,
        mode,
        groundTruth: ({ answer }) => {
          if (answer === 'throw') throw new Error('no truth');
          return answer === 'bigint' ? 1n : answer;
        },
        code: mode === 'batch' ? '(all) => all.map(() => 1)' : '() => 1',
      });
      const { trajectories, ...rest } = group(['a', 'b', 'c']);
      const answers = ['throw', 'x', 'bigint'];
      const mixed = trajectories.map((one, k) => ({
        ...one,
        task: { ...one.task, metadata: { answer: answers[k]! } },
      }));
      const scored = await rewards.computeRewards({ ...rest, trajectories: mixed });
      expect(scored.map(({ reward }) => reward)).toEqual([null, 1, null]);
      expect(rewards.getStatistics()).toMatchObject({ calls: 1, causes: { 'ground-truth': 2 } });
    },
  );

  it('refuses parameters that are no JSON', () => {
    const options = { sandbox, code: '() => 1', parameters: { bonus: 1n } };
    expect(() => sandboxedRewards(options)).toThrow('parameters: must be JSON data');
  });
});
