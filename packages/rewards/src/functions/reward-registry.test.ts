import { extractTag } from '@rlp/answers';
import { OptionsError, type RewardFunction, type Verifier } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { exactAnswer, type RegisteredRewardConfig, RewardRegistry, tagFormat } from '../index.ts';
import { groupAnswering } from '../trajectories.fixture.ts';
import { LengthVerifier } from '../verification/verifiers/length.ts';

interface Metadata {
  readonly answer: string;
}

const right: RewardFunction<Metadata> = ({ task, response }) =>
  response.includes(task.metadata.answer) ? 1 : 0;

const registry = new RewardRegistry<Metadata>({
  rewards: {
    right: () => right,
    brevity: ({ words = 10 }: { words?: number }) => ({
      reward: ({ response }) => Math.min(1, words / response.length),
    }),
    format: tagFormat,
  },
  verifiers: { short: new LengthVerifier({ minLength: 1, maxLength: 3 }) },
});

const group = groupAnswering<Metadata>(['15', 'it is 15 I am sure', '<a>15</a>'], { answer: '15' });

const rewardsOf = async (configs: readonly RegisteredRewardConfig[]) =>
  (await registry.createRewards(configs).computeRewards(group)).map(({ reward }) => reward);

describe('RewardRegistry', () => {
  it('is of functions by name', () => {
    expect(() => new RewardRegistry({} as never)).toThrow(
      'rewards: must be functions from parameters by name',
    );
  });

  it('makes the weighted sum that a config names', async () => {
    const config = '[{"name":"right","weight":2},{"name":"format","weight":0.5,"params":{"tags":["a"]}}]';
    expect(await rewardsOf(JSON.parse(config))).toEqual([2, 2, 2.5]);
  });

  it('puts verifiers before a reward, with a penalty for what they fail', async () => {
    expect(await rewardsOf([{ name: 'right', verifiers: ['short'], verifierPenalty: -1 }])).toEqual([
      1, -1, 1,
    ]);
    expect(await rewardsOf([{ name: 'right', verifiers: ['short'] }])).toEqual([1, 0, 1]);
    expect(await rewardsOf([{ name: 'right', verifiers: ['short'], verifierPenalty: null }])).toEqual([
      1,
      null,
      1,
    ]);
  });

  it('takes one reward twice under two names', async () => {
    const computer = registry.createRewards([
      { name: 'brevity', params: { words: 1 } },
      { name: 'brevity', as: 'laxer', params: { words: 2 }, weight: 0 },
    ]);
    const [first] = await computer.computeRewards(group);
    expect(first!.components).toEqual({ brevity: 0.5, laxer: 1 });
    expect(Object.keys(computer.getStatistics())).toEqual(['brevity', 'laxer']);
  });

  it('names everything that is wrong with a config', () => {
    const configs = [
      { name: 'wrong', verifiers: ['long'] },
      { name: 'format', params: { tags: ['<a>'] } },
      { name: 'right' },
      { name: 'right' },
    ];
    expect(() => registry.createRewards(configs)).toThrow(
      expect.objectContaining({
        issues: [
          '0.name: expected one of right, brevity, format, got "wrong"',
          '0.verifiers: expected one of short, got "long"',
          expect.stringMatching(/^1\.params: tags\.0: must be letters/),
          '3.as: "right" is taken; name this one otherwise',
        ],
      }),
    );
    expect(() => registry.createRewards([])).toThrow('at least one');
    const tagged = new RewardRegistry({
      rewards: {
        tagged: ({ tag }: { tag: string }) => exactAnswer({ reference: () => '', extract: extractTag(tag) }),
      },
    });
    expect(() => tagged.createRewards([{ name: 'tagged', params: { tag: '<a>' } }])).toThrow(
      '0.params: tag: must be letters',
    );
    expect(() => registry.createRewards([{ name: 'right', wieght: 1 } as RegisteredRewardConfig])).toThrow(
      'wieght',
    );
    const entries = { rewards: { a: 1 as never }, verifiers: { b: {} as Verifier } };
    expect(() => new RewardRegistry(entries)).toThrow(OptionsError);
  });

  it('shares nothing with other registries', () => {
    expect(registry.rewardNames).toEqual(['right', 'brevity', 'format']);
    expect(new RewardRegistry({ rewards: {} }).rewardNames).toEqual([]);
    expect(registry.verifierNames).toEqual(['short']);
  });
});
