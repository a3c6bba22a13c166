import { type Message, OptionsError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accuracyReward, fluencyReward, keywordReward, lengthReward } from '../stock/text/text-components.ts';
import { episodes, textpolicyConfig } from './episodes.fixture.ts';
import {
  processEpisodeBatchRewards,
  type RewardConfig,
  type RewardEpisode,
  resolveRewardConfig,
} from './index.ts';

/** The definition, from the pure components. */
function plainReward(
  { prompt = '', response = '', metadata = {} }: RewardEpisode,
  config: RewardConfig,
): number {
  const { lengthWeight, keywordWeight, perplexityWeight, accuracyWeight, targetLength, keywords } =
    resolveRewardConfig(config);
  const reference = metadata.groundTruth as string | undefined;
  return (
    lengthWeight * lengthReward(response, { targetLength }) +
    keywordWeight * keywordReward({ prompt: String(prompt), response }, { keywords }) +
    perplexityWeight * fluencyReward(response) +
    accuracyWeight * accuracyReward(response, { reference })
  );
}

describe('RewardConfig', () => {
  it('has the defaults of textpolicy', () => {
    expect(resolveRewardConfig()).toEqual({
      lengthWeight: 0.1,
      keywordWeight: 0.2,
      perplexityWeight: 0.3,
      accuracyWeight: 0.4,
      targetLength: 50,
      keywords: [],
      externalRmUrl: null,
      externalRmTimeout: 30,
      batchSize: 32,
      maxWorkers: 4,
    });
    expect(resolveRewardConfig({ keywords: null }).keywords).toEqual([]);
  });

  it('names every problem at once', () => {
    const config = { targetLength: 0, keywords: [''], lenghtWeight: 1, externalRmUrl: 'nowhere' };
    expect(() => resolveRewardConfig(config as RewardConfig)).toThrow(OptionsError);
    expect(() => resolveRewardConfig(config as RewardConfig)).toThrow(
      /targetLength[\s\S]*keywords\.0: must not be empty[\s\S]*externalRmUrl[\s\S]*lenghtWeight/,
    );
  });
});

describe('processEpisodeBatchRewards', () => {
  it('is the weighted sum of the components, and shows them', () => {
    const rewards = processEpisodeBatchRewards(episodes, textpolicyConfig);
    expect(rewards.toArray()).toEqual(
      episodes.map((episode) => expect.closeTo(plainReward(episode, textpolicyConfig), 12)),
    );
    expect([rewards.shape, rewards.device, rewards.dtype, rewards.length]).toEqual([
      [3],
      'cpu',
      'float64',
      3,
    ]);
    expect(Object.keys(rewards.components)).toEqual(['length', 'keyword', 'fluency', 'accuracy']);
    expect(rewards.components.keyword?.[1]).toBe(0);
    // 'Paris' against 'Paris': all of the reference is there.
    expect(rewards.components.accuracy?.[2]).toBe(1);
  });

  it('equals the definition for any text', () => {
    const text = fc
      .array(
        fc.constantFrom(
          'quantum',
          'Computer',
          'maybe',
          'I think',
          'ALGORITHM.',
          'é',
          '\ud800',
          'x',
          'hello',
          '\u2003',
          '\n',
        ),
        { maxLength: 120 },
      )
      .map((parts) => parts.join(' '));
    const episode = fc.record({
      prompt: text,
      response: text,
      metadata: fc.record({ groundTruth: text }, { requiredKeys: [] }),
    });
    fc.assert(
      fc.property(fc.array(episode, { maxLength: 8 }), (batch) => {
        const config = textpolicyConfig;
        // A reference of white space is none.
        const clean = batch.map((one) =>
          one.metadata.groundTruth?.trim() === '' ? { ...one, metadata: {} } : one,
        );
        expect(processEpisodeBatchRewards(batch, config).toArray()).toEqual(
          clean.map((one) => expect.closeTo(plainReward(one, config), 12)),
        );
      }),
      { numRuns: 80 },
    );
  });

  it('is empty for no episodes', () => {
    expect(processEpisodeBatchRewards([]).toArray()).toEqual([]);
    expect(processEpisodeBatchRewards([]).shape).toEqual([0]);
  });

  it('counts missing keys as empty text', () => {
    expect(processEpisodeBatchRewards([{}, { response: 'x' }]).toArray()).toEqual([0, expect.any(Number)]);
  });

  it('reads the contents of messages as the prompt', () => {
    const prompt = [{ role: 'user', content: 'Explain quantum computing' }] as const;
    const [said, asked] = processEpisodeBatchRewards(
      [{ ...episodes[0]!, prompt }, episodes[0]!],
      textpolicyConfig,
    ).toArray();
    expect(said).toBe(asked);
    const called = { role: 'assistant', content: null } as unknown as Message;
    const logged = processEpisodeBatchRewards(
      [{ ...episodes[0]!, prompt: [...prompt, called] }],
      textpolicyConfig,
    );
    expect([logged.at(0), logged.failures]).toEqual([asked, []]);
  });

  const hostile = Object.defineProperty({}, 'response', {
    get: () => {
      throw new Error('trap');
    },
  });
  it.each([
    [{ response: 7 }, 'expected the response to be text, got number'],
    [{ response: null }, 'expected the response to be text, got null'],
    [{ prompt: 7 }, 'expected the prompt to be text or a list of messages, got number'],
    [
      { prompt: [{}] },
      'expected the prompt to be text or a list of messages, got a list whose message 0 has no content',
    ],
    [
      { prompt: [{ content: '' }, { content: [] }] },
      'expected the prompt to be text or a list of messages, got a list whose message 1 has a list for its content',
    ],
    [{ metadata: 'x' }, 'expected the metadata to be an object, got string'],
    [null, 'expected an object with prompt and response, got null'],
    [hostile, 'reading it threw trap'],
  ])('makes %j unscorable and nothing else', (bad, message) => {
    const rewards = processEpisodeBatchRewards(
      [episodes[0]!, bad as RewardEpisode, episodes[1]!],
      textpolicyConfig,
    );
    const good = processEpisodeBatchRewards([episodes[0]!, episodes[1]!], textpolicyConfig).toArray();
    expect(rewards.toArray()).toEqual([good[0], null, good[1]]);
    expect(Number.isNaN(rewards.components.length?.[1])).toBe(true);
    expect(rewards.failures).toEqual([{ index: 1, source: 'episode', cause: 'unreadable', message }]);
  });

  it('does not compute components without weight, or keywords without keywords', () => {
    const rewards = processEpisodeBatchRewards(episodes, { lengthWeight: 0, perplexityWeight: -1 });
    expect(Object.keys(rewards.components)).toEqual(['accuracy']);
  });

  it('takes linear time in the length of a response', () => {
    const time = (response: string) => {
      const start = performance.now();
      expect(processEpisodeBatchRewards([{ response, metadata: { answer: 'b' } }]).at(0)).not.toBeNull();
      return performance.now() - start;
    };
    const unique = (count: number) => Array.from({ length: count }, (_, k) => k.toString(36)).join(' ');
    time(unique(20_000));
    for (const text of [
      'a '.repeat(1_000_000),
      'a'.repeat(1_000_000),
      unique(100_000),
      '\ud800'.repeat(500_000),
    ]) {
      expect(time(text)).toBeLessThan(8000);
    }
  });

  it('asks no server', () => {
    expect(() => processEpisodeBatchRewards(episodes, { externalRmUrl: 'http://rm.example/' })).toThrow(
      'expected no externalRmUrl',
    );
  });
});
