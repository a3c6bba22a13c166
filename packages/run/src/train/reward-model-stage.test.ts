import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Trajectory } from '@rlp/core';
import { loadModel } from '@rlp/models';
import { metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { RunConfig } from '../config/run-schema.ts';
import { savedRewardModel } from './reward-models.ts';
import { trainRun } from './train-run.ts';

let directory: string;
let data: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-reward-model-'));
  data = join(directory, 'pairs.jsonl');
  const rows = Array.from({ length: 24 }, (_, index) => ({
    id: `pair-${index}`,
    prompt: `${index % 10}+1=`,
    chosen: '7',
    rejected: '3',
  }));
  await writeFile(data, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
});
afterAll(() => rm(directory, { recursive: true }));

const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
const model = {
  create: {
    tokenizer: { characters: '0123456789+=' },
    ...{ layers: 1, hiddenSize: 16, heads: 2, contextLength: 32 },
  },
} satisfies RunConfig['model'];

it('trains a reward model that a later run names as its reward', async () => {
  const output = join(directory, 'judge');
  const backend = { learningRate: 1e-2 };
  const rewardModel = { epochs: 5, pairsPerBatch: 4, backend };
  const evaluation = { heldOut: 6 };
  // What is written on the way is as large as the model, so it belongs on the disk of the run.
  vi.stubEnv('TMPDIR', join(directory, 'missing'));
  const result = await trainRun(
    { model, data, rewardModel, evaluation, output, engine: { thread: 'inline' as const, threads: 1 } },
    { stream },
  );
  vi.unstubAllEnvs();
  expect(result).toMatchObject({ status: 'finished', mode: 'reward-model' });
  expect(await readdir(result.model!)).not.toContain('checkpoint');
  expect(result.evaluation).toMatchObject({ accuracy: 1, components: {} });
  expect(result.evaluation!.tasks).toHaveLength(6);
  expect(existsSync(join(result.model!, 'value_head.safetensors'))).toBe(true);

  const { tokenizer } = await loadModel(result.model!);
  const trajectory = (answer: string) => {
    const [promptTokens, tokens] = [
      tokenizer.encode('4+1='),
      tokenizer.encode(answer, { specialTokens: 'none' }),
    ];
    const step = { promptTokens, tokens: [...tokens, ...tokenizer.eosIds], behaviorLogprobs: [0, 0] };
    return { steps: [step], task: { id: answer, metadata: {} } } as unknown as Trajectory;
  };
  const reward = savedRewardModel(output);
  const { signal } = new AbortController();
  const [liked, other] = await Promise.all(
    ['7', '3'].map((answer) => reward(trajectory(answer), { signal } as never)),
  );
  expect(liked!).toBeGreaterThan(other!);
  await reward.close();
  await expect((async () => reward(trajectory('7'), { signal } as never))()).rejects.toThrow(/closed/);

  const practised = await trainRun(
    {
      ...{
        model,
        data,
        engine: { thread: 'inline' as const, threads: 1 },
        output: join(directory, 'policy'),
        evaluation: 'none',
      },
      rewards: { liked: { name: 'rewardModel', params: { model: output } } },
      algorithm: {
        ...{ iterations: 1, tasksPerIteration: 2 },
        rollout: { groupSize: 2, sampling: { maxTokens: 2 } },
      },
    },
    { stream },
  );
  expect(practised.status).toBe('finished');
  const foreign = trainRun(
    {
      ...{ data, output: join(directory, 'foreign'), evaluation: 'none', algorithm: {} },
      model: { create: { ...model.create, tokenizer: { characters: '=+9876543210' } } },
      rewards: { liked: { name: 'rewardModel', params: { model: output } } },
    },
    { stream },
  );
  await expect(foreign).rejects.toThrow(/rewardModel: \S+judge has another vocabulary than the model/);
  const [row] = metricRowsFromJsonl(await readFile(practised.files.metrics, 'utf8'), 'metrics');
  expect(row!.metrics['reward/mean']).toEqual(expect.any(Number));
}, 60_000);

it('says what is wrong before anything is trained', async () => {
  const run = (config: object) =>
    trainRun({ model, data, output: join(directory, 'wrong'), ...config } as RunConfig, { stream });
  await expect(run({ rewardModel: {}, algorithm: {} })).rejects.toThrow(/no mode does reward-model and rl/);
  await expect(run({ rewardModel: { centring: 1 } })).rejects.toThrow(/rewardModel.*centring/);
  const nowhere = { liked: { name: 'rewardModel', params: { model: join(directory, 'nowhere') } } };
  await expect(run({ rewards: nowhere, algorithm: {} })).rejects.toThrow(
    /nowhere holds no value_head\.safetensors; give the folder of a run of mode 'reward-model'/,
  );
  const none = { rewards: { liked: { name: 'rewardModel' } }, algorithm: {} };
  await expect(run(none)).rejects.toThrow(/rewards\.liked\.params.*model/);
});
