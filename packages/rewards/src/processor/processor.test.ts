import { type Message, OptionsError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accuracyReward, fluencyReward, keywordReward, lengthReward } from '../stock/text/text-components.ts';
import {
  createRolloutRewardProcessor,
  type EpisodeReward,
  processEpisodeBatchRewards,
  type RewardConfig,
  type RewardEpisode,
  type RolloutRewardProcessor,
  resolveRewardConfig,
} from './index.ts';

/** The example values of textpolicy's README. */
const textpolicyConfig: RewardConfig = {
  lengthWeight: 0.2,
  keywordWeight: 0.3,
  perplexityWeight: 0.3,
  accuracyWeight: 0.2,
  targetLength: 50,
  keywords: ['quantum', 'computer', 'algorithm'],
};

/** Three episodes; the last one has a reference. */
const episodes: RewardEpisode[] = [
  { prompt: 'Explain quantum computing', response: 'Quantum computers run an algorithm on qubits.' },
  { prompt: 'What is ML?', response: 'Maybe it is statistics. I think so.' },
  { prompt: 'Capital?', response: 'Paris', metadata: { groundTruth: 'Paris' } },
];

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
    [{ response: 7 }, 'expected the response to be text, got 7'],
    [{ response: null }, 'expected the response to be text, got null'],
    [{ prompt: 'Hi', completion: 'Hello' }, 'expected the response to be text, got only completion'],
    [{ prompt: 7 }, 'expected the prompt to be text or a list of messages, got 7'],
    [
      { prompt: [{}] },
      'expected the prompt to be text or a list of messages, got a list whose message 0 has no content',
    ],
    [
      { prompt: [{ content: '' }, { content: [] }] },
      'expected the prompt to be text or a list of messages, got a list whose message 1 has an empty list for its content',
    ],
    [{ metadata: 'x' }, 'expected the metadata to be an object, got "x"'],
    [null, 'expected an object with prompt and response, got null'],
    [[], 'expected an object with prompt and response, got an empty list'],
    [{ response: 'a', metadata: ['b'] }, 'expected the metadata to be an object, got a list'],
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

describe('RolloutRewardProcessor', () => {
  it('gives what the pure function gives', async () => {
    const processor = createRolloutRewardProcessor(textpolicyConfig);
    const expected = processEpisodeBatchRewards(episodes, textpolicyConfig).toArray();
    expect((await processor.processEpisodeRewards(episodes)).toArray()).toEqual(expected);
    expect((await processor.processEpisodeRewards([])).toArray()).toEqual([]);
    for (const wrong of [undefined, null, episodes[0]]) {
      const refused = processor.processEpisodeRewards(wrong as unknown as typeof episodes);
      await expect(refused).rejects.toThrow(
        /expected an array of episodes, got (undefined|null|an object with prompt, response)/,
      );
    }
    const { prompt, response, metadata } = episodes[2]!;
    expect(await processor.processRollout(String(prompt), response!, metadata)).toBe(expected[2]);
    const columns = [
      episodes.map((one) => String(one.prompt)),
      episodes.map((one) => one.response!),
    ] as const;
    const examples = episodes.map((one) => one.metadata ?? {});
    expect((await processor.processBatchRollouts(...columns, examples)).toArray()).toEqual(expected);
    await expect(processor.processBatchRollouts(...columns, [])).rejects.toThrow(
      'expected as many prompts, completions and examples, got 3, 3 and 0',
    );
  });

  it("adds rewards of one's own by weight", async () => {
    const processor = createRolloutRewardProcessor({})
      .addReward('two', (_, response) => response.length, { weight: 0.5 })
      .addReward('meta', async (_prompt, _response, { metadata }) => Number(metadata.points ?? 0))
      .addReward('watched', () => Number.NaN, { weight: 0 });
    const given = [{ response: 'abcd', metadata: { points: 3 } }];
    const rewards = await processor.processEpisodeRewards(given);
    expect(rewards.at(0)).toBeCloseTo(processEpisodeBatchRewards(given).at(0)! + 2 + 3, 12);
    expect([rewards.components.two?.[0], rewards.components.meta?.[0]]).toEqual([4, 3]);
    expect(rewards.failures).toHaveLength(1);
    expect(() => processor.addReward('two', () => 1)).toThrow('expected a name');
    expect(() => processor.addReward('length', () => 1)).toThrow('expected a name');
    expect(() => processor.addReward('x', 1 as never)).toThrow('x must be a function, got 1');
  });

  const broken: [string, EpisodeReward, string][] = [
    [
      'throws',
      () => {
        throw new Error('no');
      },
      'threw',
    ],
    [
      'rejects',
      async () => {
        throw new Error('no');
      },
      'threw',
    ],
    ['gives NaN', () => Number.NaN, 'not-finite'],
    ['gives infinity', async () => Number.POSITIVE_INFINITY, 'not-finite'],
    ['never returns', () => new Promise<number>(() => {}), 'timed-out'],
  ];

  it.each(broken)('isolates a reward that %s', async (_, bad, cause) => {
    const processor = createRolloutRewardProcessor().addReward(
      'fragile',
      (prompt, response, context) => (response === 'bad' ? bad(prompt, response, context) : 0),
      { timeoutMs: 20 },
    );
    const rewards = await processor.processEpisodeRewards([{ response: 'good' }, { response: 'bad' }, {}]);
    expect(rewards.toArray()).toEqual([expect.any(Number), null, 0]);
    expect(rewards.failures).toEqual([
      { index: 1, source: 'fragile', cause, message: expect.stringContaining('reward "fragile"') },
    ]);
    const statistics = processor.getStatistics();
    expect(statistics).toMatchObject({ episodes: 3, unscorable: 1, failures: { [cause]: 1 } });
    expect(statistics.rewards.fragile).toMatchObject({ calls: 3 });
  });

  it('makes a sum that overflows unscorable', async () => {
    const processor = createRolloutRewardProcessor().addReward('huge', () => 1e308, { weight: 1e10 });
    const rewards = await processor.processEpisodeRewards([{ response: 'x' }]);
    expect([rewards.at(0), rewards.failures[0]?.cause]).toEqual([null, 'not-finite']);
  });

  it('keeps at most maxWorkers calls of a reward under way', async () => {
    let running = 0;
    let most = 0;
    const processor = createRolloutRewardProcessor({ maxWorkers: 3 }).addReward('slow', async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
      return 0;
    });
    await processor.processEpisodeRewards(Array.from({ length: 20 }, () => ({})));
    expect(most).toBe(3);
  });

  it('asks a model for fluency, batch by batch, and isolates what it cannot judge', async () => {
    const asked: number[] = [];
    const fluencyScorer = {
      perplexities: async (requests: readonly { response: string }[]) => {
        asked.push(requests.length);
        if (requests.some(({ response }) => response === 'bad')) throw new Error('too long');
        return requests.map(({ response }) => (response === 'unsure' ? null : response.length));
      },
    };
    const only = { lengthWeight: 0, accuracyWeight: 0, perplexityWeight: 1, batchSize: 2 };
    const processor = createRolloutRewardProcessor(only, { fluencyScorer });
    const rewards = await processor.processEpisodeRewards(
      ['x', 'bad', 'unsure', 'x'.repeat(100), ''].map((response) => ({ response })),
    );
    expect(rewards.toArray()).toEqual([1, null, null, 0, 0]);
    expect(asked).toEqual([2, 2, 1, 1]);
    expect(rewards.failures).toEqual([
      { index: 1, source: 'fluency', cause: 'threw', message: 'reward "fluency": too long' },
    ]);
  });

  it('lists failures by episode, in the order of the rewards, whichever failed first', async () => {
    const fails = (ms: number) => () =>
      new Promise<never>((_, reject) => setTimeout(reject, ms, new Error('no')));
    const processor = createRolloutRewardProcessor().addReward('slow', fails(5)).addReward('fast', fails(0));
    const { failures } = await processor.processEpisodeRewards([{}, {}]);
    expect(failures.map(({ source, index }) => [source, index])).toEqual([
      ['slow', 0],
      ['fast', 0],
      ['slow', 1],
      ['fast', 1],
    ]);
  });

  it('stops at the signal and at close', async () => {
    const never: EpisodeReward = () => new Promise(() => {});
    const processor: RolloutRewardProcessor = createRolloutRewardProcessor().addReward('never', never);
    const controller = new AbortController();
    const stopped = processor.processEpisodeRewards([{}], { signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(stopped).rejects.toThrow('stop');
    const closed = processor.processEpisodeRewards([{}]);
    processor.close();
    processor.close();
    await expect(closed).rejects.toThrow('closed while calls were under way');
    await expect(processor.processEpisodeRewards([{}])).rejects.toThrow('it was closed; make a new one');
    await createRolloutRewardProcessor()[Symbol.asyncDispose]();
  });

  it('gives the same rewards for every batch size', async () => {
    const given = Array.from({ length: 100 }, (_, k) => ({
      response: 'word '.repeat(k),
      prompt: `p${k % 7}`,
    }));
    const expected = processEpisodeBatchRewards(given).toArray();
    for (const batchSize of [32, 64, 128, 512]) {
      const processor = createRolloutRewardProcessor({ batchSize });
      const streamed: (number | null)[] = [];
      for await (const { rewards } of processor.processEpisodeStream(given)) streamed.push(...rewards);
      expect(streamed).toEqual(expected);
    }
  });

  it('streams in batches', async () => {
    const processor = createRolloutRewardProcessor({ batchSize: 4 });
    function* source() {
      for (let k = 0; k < 10; k++) yield { response: `word ${k}` };
    }
    const sizes: number[] = [];
    for await (const { episodes: batch, rewards } of processor.processEpisodeStream(source())) {
      expect(rewards.length).toBe(batch.length);
      sizes.push(batch.length);
    }
    expect(sizes).toEqual([4, 4, 2]);
  });

  it('ends a stream that waits for its next episode by the signal and by close', async () => {
    const processor = createRolloutRewardProcessor();
    async function* tail() {
      yield { response: 'a word' };
      await new Promise(() => undefined);
    }
    const controller = new AbortController();
    const stopped = processor.processEpisodeStream(tail(), { signal: controller.signal }).next();
    const closed = processor.processEpisodeStream(tail()).next();
    controller.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    processor.close();
    await expect(closed).rejects.toThrow('closed');
  });
});
