import { OptionsError, type VerificationReport, type VerificationRequest, type Verifier } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { resolveRewardConfig } from '../processor/config.ts';
import type { RewardEpisode } from '../shared/episode.ts';
import {
  createIntegratedRewardSystem,
  type IntegratedRewardConfig,
  processEpisodesWithQualityControl,
  resolveIntegratedRewardConfig,
} from './index.ts';

/** Scores a response by the number in it. */
function scriptedVerifier(before: (requests: readonly VerificationRequest[]) => void = () => {}): Verifier {
  const judge = ({ response }: VerificationRequest): VerificationReport => {
    const score = Number(/v=([\d.]+)/.exec(response)?.[1] ?? 0);
    return {
      result: score >= 0.7 ? 'pass' : 'fail',
      score,
      details: { custom_metric: score },
      message: `${score}`,
    };
  };
  return {
    name: 'scripted',
    async verifyBatch(requests) {
      before(requests);
      return requests.map(judge);
    },
  };
}

/** An episode whose reward is `r` and whose verification score is `v`. */
const episode = (r: number, v: number) => ({
  prompt: 'p',
  response: `r=${r} v=${v}`,
  id: `${r}/${v}`,
});

/** None of the stock components. */
const onlyAdded = { lengthWeight: 0, keywordWeight: 0, perplexityWeight: 0, accuracyWeight: 0 };

/** A system whose rewards and scores are those that the responses name. */
function systemOf(config: IntegratedRewardConfig = {}, verifier = scriptedVerifier()) {
  const system = createIntegratedRewardSystem({ rewardConfig: onlyAdded, ...config }, { verifier });
  system.processor.addReward('scripted', (_, response) => Number(/r=([\d.-]+)/.exec(response)?.[1]));
  return system;
}

/** Names of episodes. */
const idsOf = (episodes: readonly { id?: string }[]) => episodes.map(({ id }) => id);

describe('IntegratedRewardConfig', () => {
  it('has the defaults of textpolicy', () => {
    expect(resolveIntegratedRewardConfig()).toEqual({
      rewardConfig: resolveRewardConfig(),
      enableVerification: true,
      verificationThreshold: 0.7,
      strictFiltering: false,
      minRewardThreshold: 0.3,
      maxRewardThreshold: 1,
      batchSize: 32,
      adaptiveThresholds: {},
    });
  });

  it('names every problem at once, those of the reward included', () => {
    const config = { rewardConfig: { targetLength: 0, weights: 1 }, verificationThreshold: 2, strict: true };
    const resolve = () => resolveIntegratedRewardConfig(config as IntegratedRewardConfig);
    expect(resolve).toThrow(OptionsError);
    expect(resolve).toThrow(/verificationThreshold[\s\S]*strict/);
    expect(() =>
      resolveIntegratedRewardConfig({ rewardConfig: { targetLength: 0 }, minRewardThreshold: 2 }),
    ).toThrow(/rewardConfig.targetLength[\s\S]*maxRewardThreshold: must be at least minRewardThreshold/);
    const reward = { quantile: 0.5, floor: 1, ceiling: 0 };
    expect(() => resolveIntegratedRewardConfig({ adaptiveThresholds: { reward } })).toThrow(
      'adaptiveThresholds.reward.ceiling: must be at least floor',
    );
  });
});

describe('IntegratedRolloutRewardSystem', () => {
  const episodes = [
    episode(0.5, 0.9),
    episode(0.5, 0.1),
    episode(0.1, 0.9),
    episode(0.1, 0.1),
    episode(1.5, 0.1),
  ];

  it('accepts leniently what passes reward or verification', async () => {
    const { rewards, accepted, rejected } = await systemOf().processEpisodes(episodes);
    expect(rewards.toArray()).toEqual([0.5, 0.5, 0.1, 0.1, 1.5]);
    expect(idsOf(accepted)).toEqual(['0.5/0.9', '0.5/0.1', '0.1/0.9']);
    // A reward above the largest possible one counts as bad.
    expect(idsOf(rejected)).toEqual(['0.1/0.1', '1.5/0.1']);
  });

  it('accepts strictly what passes both', async () => {
    const strict = systemOf({ strictFiltering: true, verificationThreshold: 0.8 });
    expect(idsOf((await strict.processEpisodes(episodes)).accepted)).toEqual(['0.5/0.9']);
    const wide = systemOf({ strictFiltering: true, verificationThreshold: 0, maxRewardThreshold: null });
    expect(idsOf((await wide.processEpisodes(episodes)).accepted)).toEqual(['0.5/0.9', '0.5/0.1', '1.5/0.1']);
  });

  it('lets the reward decide where verification is off', async () => {
    const { accepted, rejected } = await systemOf({ enableVerification: false }).processEpisodes(episodes);
    expect(idsOf(accepted)).toEqual(['0.5/0.9', '0.5/0.1']);
    expect(rejected[0]).toEqual({ ...episodes[2], reward: 0.1 });
  });

  it('gives copies with the judgement and leaves what it was given alone', async () => {
    const given = Object.freeze({ ...episodes[0]! });
    const { accepted } = await systemOf().processEpisodes([given]);
    expect(accepted).toEqual([
      {
        ...given,
        reward: 0.5,
        verificationScore: 0.9,
        verificationResult: 'pass',
        verificationMessage: '0.9',
        verificationDetails: { custom_metric: 0.9 },
      },
    ]);
    expect('reward' in given).toBe(false);
  });

  it('verifies in batches, and isolates an episode that breaks the verifier', async () => {
    const sizes: number[] = [];
    const verifier = scriptedVerifier((requests) => {
      sizes.push(requests.length);
      if (requests.some(({ response }) => response.includes('r=0.1 v=0.1'))) throw new Error('boom');
    });
    const { rejected } = await systemOf({ batchSize: 3 }, verifier).processEpisodes(episodes);
    expect(sizes).toEqual([3, 2, 1, 1]);
    expect(rejected[0]).toMatchObject({
      id: '0.1/0.1',
      verificationResult: 'fail',
      verificationScore: 0,
      verificationMessage: 'scripted: boom',
    });
    expect(rejected[1]).toMatchObject({ id: '1.5/0.1', verificationScore: 0.1 });
  });

  it('fails an episode whose report is none, instead of letting its reward decide', async () => {
    const { name, verifyBatch } = scriptedVerifier();
    const silent: Verifier = {
      name,
      verifyBatch: async (requests) =>
        (await verifyBatch(requests)).map((report, k) =>
          k === 0 ? (undefined as never) : k === 1 ? { ...report, score: Number.NaN } : report,
        ),
    };
    const strict = systemOf({ strictFiltering: true }, silent);
    const { accepted, rejected } = await strict.processEpisodes(Array(3).fill(episode(0.5, 0.9)));
    expect(accepted).toHaveLength(1);
    expect(
      rejected.map(({ verificationResult, verificationScore }) => [verificationResult, verificationScore]),
    ).toEqual([
      ['fail', 0],
      ['fail', 0],
    ]);
    expect(rejected[0]!.verificationMessage).toContain('scripted: gave no valid report: undefined');
  });

  it('rejects what cannot be read or scored, whatever else it has', async () => {
    const trap = Object.defineProperty({}, 'response', {
      enumerable: true,
      get: () => {
        throw new Error('trap');
      },
    });
    const bad = [
      { response: 7 },
      null,
      { response: 'r=x v=1' },
      { response: 'r=1 v=1', status: 'failed' },
      trap,
    ];
    const { accepted, rejected, rewards } = await systemOf().processEpisodes(bad as RewardEpisode[]);
    expect([accepted, rewards.toArray()]).toEqual([[], [null, null, null, null, null]]);
    expect(rejected.map(({ reward, verificationScore }) => [reward, verificationScore])).toEqual([
      [null, 0],
      [null, 0],
      [null, 1],
      [null, 0],
      [null, 0],
    ]);
  });

  it('takes a buffer', async () => {
    const storage = { episodes: [{ obs: ['p'], act: ['r=0.5 v=1'], logprob: [-1], value: [0] }] };
    const { accepted } = await systemOf().processBuffer({ storage });
    expect(accepted[0]).toMatchObject({
      reward: 0.5,
      metadata: { length: 1, logprobs: [-1], values: [0] },
    });
  });

  it('verifies with the default pipeline', async () => {
    const system = createIntegratedRewardSystem();
    const response = 'Paris is the capital of France. It lies on the Seine and is known for its museums.';
    const { accepted } = await system.processEpisodes([
      { prompt: 'What is the capital of France?', response },
    ]);
    expect(accepted[0]).toMatchObject({ verificationScore: expect.any(Number), response });
    expect(await system.processEpisodes([])).toMatchObject({ accepted: [], rejected: [] });
  });

  it('works on batch after batch until it is closed', async () => {
    const system = systemOf();
    try {
      for (let batch = 0; batch < 3; batch++) {
        expect((await system.processEpisodes(episodes)).accepted).toHaveLength(3);
      }
    } finally {
      system.close();
      system.close();
    }
    await expect(system.processEpisodes(episodes)).rejects.toThrow('it was closed; make a new one');
    await systemOf()[Symbol.asyncDispose]();
  });

  it('stops at the signal', async () => {
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(systemOf().processEpisodes(episodes, { signal })).rejects.toThrow('stop');
  });

  it('writes a line per batch to the logger, whether or not the logger breaks', async () => {
    const lines: [string, object][] = [];
    const debug = (message: string, data: object) => {
      lines.push([message, data]);
      throw new Error('disk full');
    };
    const system = createIntegratedRewardSystem({}, { verifier: scriptedVerifier(), logger: { debug } });
    await system.processEpisodes(episodes);
    expect(lines).toEqual([
      ['batch 0: 5 of 5 accepted', expect.objectContaining({ shape: [5], device: 'cpu', dtype: 'float64' })],
    ]);
  });
});

describe('processEpisodesWithQualityControl', () => {
  it('does it all in one call', async () => {
    const config = { rewardConfig: onlyAdded, minRewardThreshold: 0 };
    const { rewards, accepted, rejected, metrics } = await processEpisodesWithQualityControl(
      [episode(0, 1), episode(0, 0.1)],
      config,
      {
        verifier: scriptedVerifier(),
        customMetrics: { longest: (all) => Math.max(...all.map((one) => one.response?.length ?? 0)) },
      },
    );
    expect([rewards.length, accepted.length, rejected.length]).toEqual([2, 2, 0]);
    expect(metrics).toEqual({
      numEpisodes: 2,
      unscorable: 0,
      rewardStats: { mean: 0, std: 0, min: 0, max: 0, median: 0 },
      verificationStats: { mean: 0.55, std: expect.closeTo(0.45, 12), min: 0.1, max: 1, median: 0.55 },
      verificationCounts: { pass: 1, warning: 0, fail: 1 },
      custom: { longest: 9 },
    });
    expect((await processEpisodesWithQualityControl([])).metrics).toEqual({});
  });
});

describe('adaptive thresholds', () => {
  it('follow the latest rewards, judged by the batches before', async () => {
    const system = systemOf({
      enableVerification: false,
      minRewardThreshold: 0.3,
      maxRewardThreshold: null,
      adaptiveThresholds: { reward: { quantile: 0.5, window: 4, warmup: 4, ceiling: 6 } },
    });
    const run = async (rewards: number[]) =>
      idsOf((await system.processEpisodes(rewards.map((reward) => episode(reward, 0)))).accepted);
    expect(await run([0.1, 1, 2, 3])).toEqual(['1/0', '2/0', '3/0']);
    expect(system.thresholds.minReward).toBe(1.5);
    expect(await run([1, 2, 4, 8])).toEqual(['2/0', '4/0', '8/0']);
    expect(system.thresholds.minReward).toBe(3);
    await run([10, 20, 30, 40]);
    expect(system.thresholds.minReward).toBe(6);
  });

  it('follow verification scores, those that could not be scored left out', async () => {
    const verification = { quantile: 0, window: 100, warmup: 1, floor: 0.2 };
    const system = systemOf({ adaptiveThresholds: { verification } });
    await system.processEpisodes([episode(0.5, 0.4), episode(0.5, 0.9)]);
    expect(system.thresholds.verificationScore).toBe(0.4);
    await system.processEpisodes([episode(0.5, 0)]);
    expect(system.thresholds.verificationScore).toBe(0.2);
  });
});

describe('live metrics', () => {
  it('come batch by batch and end with the system', async () => {
    const system = systemOf();
    const stream = system.liveMetrics();
    await system.processEpisodes([episode(0.5, 0.9)]);
    const next = stream.next();
    expect((await next).value).toEqual({
      batch: 0,
      metrics: {
        'quality/episodes': 1,
        'quality/unscorable': 0,
        'reward/mean': 0.5,
        'reward/std': 0,
        'reward/min': 0.5,
        'reward/max': 0.5,
        'reward/median': 0.5,
        'verification/mean': 0.9,
        'verification/std': 0,
        'verification/min': 0.9,
        'verification/max': 0.9,
        'verification/median': 0.9,
        'verification/pass': 1,
        'verification/warning': 0,
        'verification/fail': 0,
        'quality/accepted': 1,
        'quality/rejected': 0,
        'quality/min-reward': 0.3,
        'quality/verification-threshold': 0.7,
      },
    });
    const waiting = stream.next();
    system.close();
    expect(await waiting).toEqual({ value: undefined, done: true });
    expect(await stream.next()).toEqual({ value: undefined, done: true });
  });

  it('drop the oldest batches for a slow reader, and never hold up the system', async () => {
    const system = systemOf();
    const slow = system.liveMetrics({ capacity: 2 });
    const fast = system.liveMetrics();
    for (let batch = 0; batch < 5; batch++) await system.processEpisodes([episode(0.5, 1)]);
    system.close();
    const read = async (stream: AsyncIterable<{ batch: number }>) => {
      const batches: number[] = [];
      for await (const { batch } of stream) batches.push(batch);
      return batches;
    };
    expect([await read(slow), slow.dropped]).toEqual([[3, 4], 3]);
    expect([await read(fast), fast.dropped]).toEqual([[0, 1, 2, 3, 4], 0]);
  });

  it('cost nothing once a reader has left', async () => {
    let computed = 0;
    const customMetrics = { count: () => ++computed };
    const system = createIntegratedRewardSystem({}, { verifier: scriptedVerifier(), customMetrics });
    await system.processEpisodes([episode(0.5, 1)]);
    expect(computed).toBe(0);
    const stream = system.liveMetrics();
    const reading = (async () => {
      for await (const { metrics } of stream) return metrics;
      return {};
    })();
    await system.processEpisodes([episode(0.5, 1)]);
    expect((await reading)['quality/custom/count']).toBe(1);
    await system.processEpisodes([episode(0.5, 1)]);
    expect(computed).toBe(1);
    expect(() => system.liveMetrics({ capacity: 0 })).toThrow('expected a capacity');
    system.close();
    expect(await system.liveMetrics().next()).toEqual({ value: undefined, done: true });
  });
});
