import type { RewardComputer, Trajectory } from '@rlp/core';
import { describeRewardComputer } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import { createRolloutRewardProcessor, processEpisodeBatchRewards } from './index.ts';

const trajectory = (status: Trajectory['status']): Trajectory => ({
  id: '0',
  task: { id: 'a', prompt: 'Capital?', metadata: { answer: 'Paris' } },
  steps: [],
  messages: [],
  response: 'Paris',
  status,
  policyVersion: 0,
});

const group = (statuses: readonly Trajectory['status'][]) => {
  const trajectories = statuses.map((status, member) => ({ ...trajectory(status), id: `0/${member}` }));
  return { id: '0', task: trajectories[0]!.task, trajectories };
};

describeRewardComputer('RolloutRewardProcessor', {
  create: () => createRolloutRewardProcessor(),
  group: group(['completed', 'truncated', 'completed']),
});

describe('computeRewards', () => {
  it('gives rewards and components as training reads them', async () => {
    // Whatever the tasks' metadata: a processor serves every loop.
    const processor: RewardComputer<{ readonly answer: string }> & RewardComputer =
      createRolloutRewardProcessor({ lengthWeight: 0, perplexityWeight: 0 });
    const scored = await processor.computeRewards(group(['completed', 'failed']));
    expect(scored.map(({ reward, components }) => ({ reward, components }))).toEqual([
      { reward: 0.4, components: { accuracy: 1 } },
      { reward: null, components: { accuracy: null } },
    ]);
  });
});

describe('processBufferRewards', () => {
  it('scores trajectories against their task, and leaves out those that broke', async () => {
    const processor = createRolloutRewardProcessor({ lengthWeight: 0, perplexityWeight: 0 });
    const rewards = await processor.processBufferRewards([trajectory('completed'), trajectory('failed')]);
    expect(rewards.toArray()).toEqual([0.4, null]);
    expect(rewards.failures).toEqual([]);
  });

  it('scores samples and lists of steps alike', async () => {
    const processor = createRolloutRewardProcessor();
    const sample = {
      prompt: 'p',
      response: 'some words here',
      tokens: [],
      lossMask: [],
      reward: 0,
      metadata: {},
      status: 'completed',
    } as const;
    const [fromSample] = await processor.processBufferRewards([sample]);
    const storage = {
      episodes: [
        { obs: ['p', 'q'], act: ['x', 'some words here'], logprob: [0], value: null },
        { obs: [], act: [] },
        { obs: [[1]], act: [7] },
      ],
    };
    const rewards = await processor.processBufferRewards({ storage });
    expect(rewards.toArray()).toEqual([fromSample, 0, null]);
  });
});

describe('the external reward', () => {
  const answering = (answer: { status: number; json(): Promise<unknown> }) => {
    const calls: { url: string; body: unknown }[] = [];
    const fetch = async (url: string, { body }: { body: string }) => {
      calls.push({ url, body: JSON.parse(body) });
      return answer;
    };
    return { calls, fetch };
  };

  it('is blended in, 0.7 to 0.3', async () => {
    const { calls, fetch } = answering({ status: 200, json: async () => ({ reward: 0.5 }) });
    const processor = createRolloutRewardProcessor({ externalRmUrl: 'http://rm.example/score' }, { fetch });
    const given = { prompt: 'p', response: 'some words here', metadata: { answer: 'x' } };
    const rewards = await processor.processEpisodeRewards([given]);
    const basic = processEpisodeBatchRewards([given]).at(0)!;
    expect(rewards.at(0)).toBeCloseTo(0.7 * 0.5 + 0.3 * basic, 12);
    expect(calls).toEqual([{ url: 'http://rm.example/score', body: given }]);
  });

  it.each([
    ['another status', { status: 503, json: async () => ({ reward: 1 }) }, 'expected status 200, got 503'],
    ['no reward', { status: 200, json: async () => ({}) }, 'got a reward that is undefined'],
    ['broken JSON', { status: 200, json: async () => JSON.parse('{') }, 'JSON'],
  ])('makes an episode unscorable on %s, never 0.5', async (_, answer, message) => {
    const { fetch } = answering(answer);
    const processor = createRolloutRewardProcessor({ externalRmUrl: 'http://rm.example/' }, { fetch });
    const rewards = await processor.processEpisodeRewards([{ response: 'x' }]);
    expect(rewards.at(0)).toBeNull();
    expect(rewards.failures[0]).toMatchObject({
      source: 'external',
      cause: 'threw',
      message: expect.stringContaining(message),
    });
  });

  it('takes a function in place of an address, with the timeout in seconds', async () => {
    const external = () => new Promise<number>(() => {});
    const processor = createRolloutRewardProcessor({ externalRmTimeout: 0.02 }, { external });
    const rewards = await processor.processEpisodeRewards([{ response: 'x' }]);
    expect(rewards.failures[0]).toMatchObject({ source: 'external', cause: 'timed-out' });
    const unsure = createRolloutRewardProcessor({}, { external: () => null });
    expect((await unsure.processEpisodeRewards([{ response: 'x' }])).toArray()).toEqual([null]);
  });
});
