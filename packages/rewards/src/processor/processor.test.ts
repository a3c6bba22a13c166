import { describe, expect, it } from 'vitest';
import { episodes, textpolicyConfig } from './episodes.fixture.ts';
import {
  createRolloutRewardProcessor,
  type EpisodeReward,
  processEpisodeBatchRewards,
  type RolloutRewardProcessor,
} from './index.ts';

describe('RolloutRewardProcessor', () => {
  it('gives what the pure function gives', async () => {
    const processor = createRolloutRewardProcessor(textpolicyConfig);
    const expected = processEpisodeBatchRewards(episodes, textpolicyConfig).toArray();
    expect((await processor.processEpisodeRewards(episodes)).toArray()).toEqual(expected);
    expect((await processor.processEpisodeRewards([])).toArray()).toEqual([]);
    for (const wrong of [undefined, null, episodes[0]]) {
      const refused = processor.processEpisodeRewards(wrong as unknown as typeof episodes);
      await expect(refused).rejects.toThrow(/expected an array of episodes, got (undefined|null|object)$/);
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
    await expect(processor.processEpisodeRewards([{}])).rejects.toThrow('got a closed one');
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
});
