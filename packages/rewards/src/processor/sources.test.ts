import type { RewardComputer, Trajectory } from '@rlp/core';
import { describeRewardComputer } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import { externalReward } from '../external.ts';
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
  const answering = (status: number, text: string) => {
    const calls: { url: string; body: unknown }[] = [];
    const fetch = async (url: string, { body = '' }: { body?: string }) => {
      calls.push({ url, body: JSON.parse(body) });
      return new Response(text, { status });
    };
    return { calls, fetch };
  };

  it('is blended in, 0.7 to 0.3', async () => {
    const { calls, fetch } = answering(200, '{"reward": 0.5}');
    const processor = createRolloutRewardProcessor({ externalRmUrl: 'http://rm.example/score' }, { fetch });
    const given = { prompt: 'p', response: 'some words here', metadata: { answer: 'x' } };
    const rewards = await processor.processEpisodeRewards([given]);
    const basic = processEpisodeBatchRewards([given]).at(0)!;
    expect(rewards.at(0)).toBeCloseTo(0.7 * 0.5 + 0.3 * basic, 12);
    expect(calls).toEqual([{ url: 'http://rm.example/score', body: given }]);
  });

  it.each([
    ['another status', 503, '{"reward": 1}', 'expected status 200, got 503'],
    ['no reward', 200, '{}', 'expected 1 rewards'],
    ['broken JSON', 200, '{', 'expected JSON'],
  ])('makes an episode unscorable on %s, never 0.5', async (_, status, text, message) => {
    const { fetch } = answering(status, text);
    const processor = createRolloutRewardProcessor({ externalRmUrl: 'http://rm.example/' }, { fetch });
    const rewards = await processor.processEpisodeRewards([{ response: 'x' }]);
    expect(rewards.at(0)).toBeNull();
    expect(rewards.failures[0]).toMatchObject({
      source: 'external',
      cause: 'threw',
      message: expect.stringContaining(message),
    });
  });

  it('takes a client with limits and a share of its own', async () => {
    let [now, most] = [0, 0];
    const fetch = async (_: string, { body = '' }: { body?: string }) => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
      return new Response(
        JSON.stringify({ reward: (JSON.parse(body) as { response: string }).response.length }),
      );
    };
    const external = externalReward({ url: 'http://rm.example/', fetch, concurrency: 10 });
    const processor = createRolloutRewardProcessor({ maxWorkers: 2 }, { external, externalShare: 1 });
    const given = Array.from({ length: 30 }, (_, k) => ({ response: 'x'.repeat(k + 1) }));
    const rewards = await processor.processEpisodeRewards(given);
    expect(rewards.toArray()).toEqual(given.map(({ response }) => response.length));
    expect(most).toBe(10);
    expect(() => createRolloutRewardProcessor({}, { external, externalShare: 2 })).toThrow(
      'externalShare: expected a number of at most 1, got 2',
    );
    const misplaced = { rewards: { mine: () => 1 } } as object;
    expect(() => createRolloutRewardProcessor({}, misplaced)).toThrow(/Unrecognized option "rewards"/);
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
