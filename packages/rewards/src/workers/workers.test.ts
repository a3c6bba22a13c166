import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { TrajectoryGroup } from '@rlp/core';
import { ThreadError } from '@rlp/sandbox/threads';
import { build } from 'esbuild';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createRolloutRewardProcessor } from '../index.ts';
import { answering, groupAnswering } from '../trajectories.fixture.ts';
import { createRewardWorkers, type RewardWorkersOptions } from '../workers.ts';
import { openRewardWorkers, RewardWorkers } from './reward-workers.ts';
import { ranked } from './rewards.fixture.ts';

/**
 * A module for threads as one file of JavaScript, there until the tests of the file end: a thread starts on it in a fraction of the
 * time that it takes to load TypeScript. It lies where this package's dependencies can be found.
 */
async function built(source: URL): Promise<URL> {
  const name = `${basename(source.pathname, '.ts')}-${process.pid}.mjs`;
  const outfile = fileURLToPath(new URL(`../../node_modules/.cache/threads/${name}`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@rlp/source'],
    external: ['quickjs-emscripten-core', '@jitl/*'],
    logLevel: 'silent',
  });
  afterAll(() => rm(outfile, { force: true }));
  return pathToFileURL(outfile);
}

const source = new URL('./rewards.fixture.ts', import.meta.url);
const [entry, module] = await Promise.all([
  built(new URL('../reward.worker.ts', import.meta.url)),
  built(source),
]);

async function open(options: Partial<RewardWorkersOptions> = {}) {
  const workers = await openRewardWorkers({ module, workers: 2, ...options }, entry);
  onTestFinished(() => workers.close());
  return workers;
}

/** Long enough for what does not hang, on a busy machine. */
const timeoutMs = 1000;

const groupOf = (responses: readonly string[]): TrajectoryGroup => groupAnswering(responses, undefined);

const rewardsOf = (scored: readonly { readonly reward: number | null }[]) =>
  scored.map(({ reward }) => reward);

describe('rewards in threads', () => {
  it('are those of the module, in order, with the trajectories that were given', async () => {
    const workers = await createRewardWorkers({ module: source, workers: 1, batchSize: 2 });
    onTestFinished(() => workers.close());
    const group = groupOf(['a', 'bb', 'ccc', 'dddd', 'throw']);
    const scored = await workers.computeRewards(group);
    expect(rewardsOf(scored)).toEqual([1, 2, 3, 4, null]);
    expect(scored.map(({ trajectory }) => trajectory)).toEqual(group.trajectories);
    expect(scored[1]!.trajectory).toBe(group.trajectories[1]);
    expect(scored[1]!.components).toEqual({ characters: 2 });
    expect(scored[4]!.failures).toMatchObject([{ source: 'characters', cause: 'threw' }]);
    expect(workers.getStatistics()).toMatchObject({
      episodes: 5,
      unscorable: 1,
      threads: 1,
      endedThreads: 0,
    });
    expect(await workers.computeRewards(groupOf([]))).toEqual([]);
    await expect(workers.processEpisodeRewards([])).rejects.toThrow('export a processor');
    await workers.close();
    await expect(workers.computeRewards(group)).rejects.toThrow('make new ones');
  });

  it('keep a group together where its members are compared, and lose no other group with it', async () => {
    const workers = await open({ export: 'ranked', batchSize: 1, workers: 1, timeoutMs });
    const group = groupOf(['a', 'bb', 'ccc', 'dddd']);
    const groups = [groupOf(['a', 'stop']), group];
    const scored = await Promise.all(groups.map((one) => workers.computeRewards(one)));
    expect(rewardsOf(scored[0]!)).toEqual([null, null]);
    expect(scored[0]![0]!.failures).toMatchObject([{ source: 'episode', cause: 'timed-out' }]);
    expect(scored[1]).toEqual(await ranked.computeRewards(group));
    expect(workers.getStatistics().failures['timed-out']).toBe(2);
  });

  it.each([
    ['sent', 3],
    ['left-out', 0],
  ] as const)('of trajectories whose tokens are %s lose none of them', async (tokens, reward) => {
    const logprobs = { promptTokens: [7], tokens: [1, 2, 3], behaviorLogprobs: [-1, -2, -3] };
    const step = { ...logprobs, text: 'abc', stopReason: 'stop' } as const;
    const task = { id: 'a', prompt: '', metadata: undefined };
    const group = { id: 'g', task, trajectories: [answering('abc', undefined, { task, steps: [step] })] };
    const workers = await open({ export: 'tokens', tokens, workers: 1 });
    const [scored] = await workers.computeRewards(group);
    expect(scored?.reward).toBe(reward);
    expect(scored?.trajectory.steps).toEqual([{ ...step, reward: 1 }]);
  });

  it('of a processor are what it gives without threads', async () => {
    const workers = await open({ export: 'processor', batchSize: 4, timeoutMs });
    const episodes = Array.from({ length: 23 }, (_, k) => ({
      response: k === 5 ? (7 as unknown as string) : 'word '.repeat(k % 9),
      metadata: { answer: 'word' },
    }));
    const processor = createRolloutRewardProcessor({ targetLength: 4 }).addReward('obeys', () => 1);
    const expected = await processor.processEpisodeRewards(episodes);
    expect(await workers.processEpisodeRewards(episodes)).toEqual(expected);
    expect((await workers.processEpisodeRewards([])).shape).toEqual([0]);
    const unsendable = { response: 'x', metadata: { call: () => 1 } };
    const rewards = await workers.processEpisodeRewards([
      { response: 'stop' },
      unsendable,
      { response: 'x' },
    ]);
    expect(rewards.toArray()).toEqual([null, null, expect.any(Number)]);
    expect(rewards.failures).toMatchObject([
      { index: 0, source: 'episode', cause: 'timed-out' },
      { index: 1, source: 'episode', cause: 'threw', message: expect.stringContaining('cannot be sent') },
    ]);
    expect(workers.getStatistics().failures).toEqual({ threw: 1, 'timed-out': 1, crashed: 0 });
  });

  it('are null for what loops, waits for ever, takes all memory or ends its thread, and for nothing else', async () => {
    const workers = await open({ workers: 1, timeoutMs, heapMb: 64 });
    const rewards = async (...responses: string[]) =>
      rewardsOf(await workers.computeRewards(groupOf(responses)));
    expect(await rewards('wait', 'a')).toEqual([null, 1]);
    expect(workers.getStatistics()).toMatchObject({ unscorable: 1, endedThreads: 0 });
    expect(await rewards('bb', 'loop')).toEqual([2, null]);
    expect(workers.getStatistics().lastFailure).toContain(`took longer than ${timeoutMs} ms`);
    expect(await rewards('exit')).toEqual([null]);
    expect(workers.getStatistics().lastFailure).toContain('exit code 3');
    expect(await rewards('again')).toEqual([5]);
    expect(workers.getStatistics()).toMatchObject({
      ...{ episodes: 6, unscorable: 3, endedThreads: 4 },
      failures: { threw: 0, 'timed-out': 1, crashed: 1 },
    });
  });

  it('of a computer of functions are null for no other episode of the group', async () => {
    const workers = await open({ export: 'functions', workers: 1, timeoutMs });
    expect(rewardsOf(await workers.computeRewards(groupOf(['a', 'exit', 'bb'])))).toEqual([1, null, 2]);
  });

  it.each(['functions', 'ranked'])(
    'are not lost to work that an earlier group left behind (%s)',
    async (name) => {
      const workers = await open({ export: name, workers: 1, timeoutMs });
      const scores = async (...responses: string[]) =>
        rewardsOf(await workers.computeRewards(groupOf(responses)));
      const innocent = await scores('a', 'slow');
      expect(await scores('stray', 'bb')).not.toContain(null);
      expect(await scores('a', 'slow')).toEqual(innocent);
      expect(workers.getStatistics()).toMatchObject({
        ...{ unscorable: 0, endedThreads: 1, failures: { crashed: 0 } },
      });
    },
  );

  it('outlive a thread that took all memory', async () => {
    const workers = await open({ workers: 1, heapMb: 64 });
    expect(rewardsOf(await workers.computeRewards(groupOf(['memory'])))).toEqual([null]);
    expect(workers.getStatistics().lastFailure).toContain('memory limit');
  });

  it('end with the reason of the signal, and leave the workers usable', async () => {
    const workers = await open({ workers: 1 });
    const controller = new AbortController();
    const waiting = workers.computeRewards(groupOf(['stop']), controller);
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(waiting).rejects.toThrow('enough');
    await expect(workers.computeRewards(groupOf(['a']), controller)).rejects.toThrow('enough');
    expect(rewardsOf(await workers.computeRewards(groupOf(['a'])))).toEqual([1]);
  });

  it('refuse what cannot score, before anything is scored', async () => {
    await expect(open({ export: 'answer' })).rejects.toThrow(
      /expected the export "answer".*got number.*characters/s,
    );
    await expect(open({ module: new URL('./none.ts', import.meta.url) })).rejects.toThrow(ThreadError);
    await expect(open({ module: 'rewards.ts', workers: 0 })).rejects.toThrow(
      /module: must be a URL.*workers/s,
    );
  });
});

describe('work in parts', () => {
  it.each([
    { episodes: 5, workers: 2, batchSize: 128, sizes: [3, 2] },
    { episodes: 5, workers: 2, batchSize: 2, sizes: [2, 2, 1] },
    { episodes: 6, workers: 3, batchSize: 128, sizes: [2, 2, 2] },
    { episodes: 1, workers: 4, batchSize: 128, sizes: [1] },
  ])(
    'gives $workers workers no more parts of $episodes episodes than needed',
    async ({ episodes, workers, batchSize, sizes }) => {
      const asked: number[] = [];
      const pool = {
        ask: async ({ trajectories }: TrajectoryGroup) => {
          asked.push(trajectories.length);
          return trajectories.map(() => ({ reward: 1, components: {} }));
        },
      };
      const rewards = new RewardWorkers(pool as never, {
        components: undefined,
        ...{ scope: 'episode', tokens: 'sent', timeoutMs: 1000, workers, batchSize },
      });
      await rewards.computeRewards(groupOf(Array.from({ length: episodes }, () => 'a')));
      expect(asked).toEqual(sizes);
    },
  );
});
