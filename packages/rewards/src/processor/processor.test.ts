import { OptionsError, type Trajectory } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accuracyReward, fluencyReward, keywordReward, lengthReward } from './components.ts';
import {
  createRolloutRewardProcessor,
  type EpisodeReward,
  type EpisodeRewards,
  processEpisodeBatchRewards,
  type RewardConfig,
  type RewardEpisode,
  type RolloutRewardProcessor,
  resolveRewardConfig,
} from './index.ts';

const seedConfig: RewardConfig = {
  lengthWeight: 0.2,
  keywordWeight: 0.3,
  perplexityWeight: 0.3,
  accuracyWeight: 0.2,
  targetLength: 50,
  keywords: ['quantum', 'computer', 'algorithm'],
};

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
  it('has the defaults of the original', () => {
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
      enableCompilation: true,
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
    const rewards = processEpisodeBatchRewards(episodes, seedConfig);
    expect(rewards.toArray()).toEqual(
      episodes.map((episode) => expect.closeTo(plainReward(episode, seedConfig), 12)),
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

  it('equals the definition for any text, with and without the kernel', () => {
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
      fc.property(fc.array(episode, { maxLength: 8 }), fc.boolean(), (batch, enableCompilation) => {
        const config = { ...seedConfig, enableCompilation };
        // A reference of white space is none.
        const clean = batch.map((one) =>
          one.metadata.groundTruth?.trim() === '' ? { ...one, metadata: {} } : one,
        );
        expect(processEpisodeBatchRewards(batch, config).toArray()).toEqual(
          clean.map((one) => expect.closeTo(plainReward(one, config), 12)),
        );
      }),
      { numRuns: 150 },
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
      seedConfig,
    ).toArray();
    expect(said).toBe(asked);
  });

  const hostile = Object.defineProperty({}, 'response', {
    get: () => {
      throw new Error('trap');
    },
  });
  it.each([
    [{ response: 7 }, 'episode 1: expected the response to be text, got number'],
    [{ response: null }, 'episode 1: expected the response to be text, got null'],
    [{ prompt: 7 }, 'episode 1: expected the prompt to be text or a list of messages, got number'],
    [{ prompt: [{}] }, 'episode 1: expected the prompt to be text or a list of messages, got a list'],
    [{ metadata: 'x' }, 'episode 1: expected the metadata to be an object, got string'],
    [null, 'episode 1: expected an object with prompt and response, got null'],
    [hostile, 'episode 1: reading it threw trap'],
  ])('makes %j unscorable and nothing else', (bad, message) => {
    const rewards = processEpisodeBatchRewards(
      [episodes[0]!, bad as RewardEpisode, episodes[1]!],
      seedConfig,
    );
    const good = processEpisodeBatchRewards([episodes[0]!, episodes[1]!], seedConfig).toArray();
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
      'a '.repeat(5_000_000),
      'a'.repeat(10_000_000),
      unique(300_000),
      '\ud800'.repeat(2_000_000),
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
  const mean = (rewards: EpisodeRewards) => rewards.toArray();

  it('gives what the pure function gives', async () => {
    const processor = createRolloutRewardProcessor(seedConfig);
    const expected = processEpisodeBatchRewards(episodes, seedConfig).toArray();
    expect(mean(await processor.processEpisodeRewards(episodes))).toEqual(expected);
    expect(mean(await processor.processEpisodeRewards([]))).toEqual([]);
    const { prompt, response, metadata } = episodes[2]!;
    expect(await processor.processRollout(String(prompt), response!, metadata)).toBe(expected[2]);
    const columns = [
      episodes.map((one) => String(one.prompt)),
      episodes.map((one) => one.response!),
    ] as const;
    const examples = episodes.map((one) => one.metadata ?? {});
    expect(mean(await processor.processBatchRollouts(...columns, examples))).toEqual(expected);
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
    expect(() => processor.addReward('x', 1 as never)).toThrow('to be a function');
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
    expect(asked).toEqual([2, 1, 1, 2]);
    expect(rewards.failures).toEqual([
      { index: 1, source: 'fluency', cause: 'threw', message: 'fluency: too long' },
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
    await expect(processor.processEpisodeRewards([{}])).rejects.toThrow('got a closed one');
    await createRolloutRewardProcessor()[Symbol.asyncDispose]();
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
});

describe('processBufferRewards', () => {
  const trajectory = (status: Trajectory['status']): Trajectory => ({
    id: '0',
    task: { id: 'a', prompt: 'Capital?', metadata: { answer: 'Paris' } },
    steps: [],
    messages: [],
    response: 'Paris',
    status,
    policyVersion: 0,
  });

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
