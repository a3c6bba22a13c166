import { TabularBackend } from '@rlp/backprop/tabular';
import type { Trajectory } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { letterTokenizer as tokenizer } from '../loop/bandit.fixture.ts';
import { judgedPair } from './preferences.ts';
import { rewardModel, runRewardModelTraining } from './reward-model.ts';

const pairs = ['a', 'b', 'c'].map((prompt) =>
  judgedPair({ prompt, chosen: 'd', rejected: 'e' }, { tokenizer, endToken: 'none' }),
);
const create = () =>
  new TabularBackend({ vocabularySize: 8, contextTokens: 1, learningRate: 0.3, valueHead: 'linear' });

/** As far as a reward model reads it. */
const trajectory = (promptTokens: number[], tokens: number[]) =>
  ({ steps: [{ promptTokens, tokens, behaviorLogprobs: tokens.map(() => 0) }] }) as unknown as Trajectory;

describe('runRewardModelTraining', () => {
  it('begins at ln 2 and learns which end is preferred', async () => {
    const backend = create();
    const reports = [];
    for await (const report of runRewardModelTraining({ backend, pairs }, { epochs: 20 }))
      reports.push(report);
    expect(reports[0]!.metrics['loss/reward-model']).toBeCloseTo(Math.LN2, 12);
    const last = reports.at(-1)!.metrics;
    expect(last['reward/accuracy']).toBe(1);
    expect(last['reward/margin']).toBeGreaterThan(2);
    const reward = rewardModel(backend);
    const context = { signal: new AbortController().signal };
    const [good, bad, none] = await Promise.all([
      reward(trajectory([0], [3]), context),
      reward(trajectory([0], [4]), context),
      reward({ steps: [] } as unknown as Trajectory, context),
    ]);
    expect(good! - bad!).toBeCloseTo(
      (await backend.values([[0, 3]]))[0]!.at(-1)! - (await backend.values([[0, 4]]))[0]!.at(-1)!,
      6,
    );
    expect(good!).toBeGreaterThan(bad!);
    expect(none).toBeNull();
  });

  it('computes trajectories that are scored in one moment as one batch', async () => {
    const backend = create();
    let calls = 0;
    const values = backend.values.bind(backend);
    backend.values = (...given) => {
      calls += 1;
      return values(...given);
    };
    const reward = rewardModel(backend, { tokens: ({ steps }) => steps[0]!.tokens });
    const context = { signal: new AbortController().signal };
    await Promise.all([1, 2, 3].map((token) => reward(trajectory([0], [token]), context)));
    expect(calls).toBe(1);
  });

  it('says which pairs are too long, and when none is left', async () => {
    const notes: string[] = [];
    const logger = {
      log: () => undefined,
      note: (step: number, text: string) => void notes.push(`${step} ${text}`),
      close: async () => undefined,
    };
    const long = judgedPair({ prompt: 'a', chosen: 'dd', rejected: 'e' }, { tokenizer, endToken: 'none' });
    const limited = { maxLength: { tokens: 2 }, epochs: 1 };
    const run = (given: typeof pairs, resume?: { iteration: number }) =>
      runRewardModelTraining(
        { backend: create(), pairs: given, logger },
        { ...limited, ...(resume && { resume }) },
      );
    await run([...pairs, long]).next();
    await run([...pairs, long], { iteration: 1 }).next();
    expect(notes).toEqual([0, 1].map((step) => expect.stringContaining(`${step} 1 of 4 pairs is longer`)));
    await expect(run([long]).next()).rejects.toThrow(/1 of 1 pairs.*so no pair is left/);
  });

  it('refuses a reward that is not finite', async () => {
    const backend = create();
    backend.values = () => Object.assign(Promise.resolve([Float32Array.of(Number.NaN)]), { settled: true });
    const reward = rewardModel(backend)(trajectory([0], [1]), { signal: new AbortController().signal });
    await expect(reward).rejects.toThrow('expected a finite reward, got NaN');
  });

  it('refuses a backend without a value head, no pairs and options that are not known', async () => {
    const backend = new TabularBackend({ vocabularySize: 8, contextTokens: 1 });
    expect(() => rewardModel(backend)).toThrow('values: a value head');
    await expect(runRewardModelTraining({ backend, pairs }).next()).rejects.toThrow('a value head');
    await expect(runRewardModelTraining({ backend: create(), pairs: [] }).next()).rejects.toThrow(
      'at least one pair',
    );
    const misspelt = { centring: 0.1 } as never;
    await expect(runRewardModelTraining({ backend: create(), pairs }, misspelt).next()).rejects.toThrow(
      'did you mean centering',
    );
  });
});
