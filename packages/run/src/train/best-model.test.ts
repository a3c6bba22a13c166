import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { loadModel } from '@rlp/models';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runFiles, savedModel } from '../folder/run-files.ts';
import { readRunRecord } from '../folder/run-record.ts';
import { trainRun } from './train-run.ts';

let output: string;
beforeAll(async () => {
  output = await mkdtemp(join(tmpdir(), 'rlp-best-'));
});
afterAll(() => rm(output, { recursive: true }));

it('keeps the model of the best evaluation, which need not be the last one', async () => {
  const scores = [0, 0.25, 0.75, 0.5]; // before training, after two updates, after four, and at the end
  let answers = 0;
  const tasks = Array.from({ length: 6 }, (_, n) => ({
    id: `${n}`,
    prompt: `${n}+1=`,
    metadata: { answer: `${n + 1}` },
  }));
  const { status } = await trainRun(
    {
      model: { create: { tokenizer: { characters: '0123456789+=' }, layers: 1, hiddenSize: 8, heads: 1 } },
      data: tasks,
      sft: { updates: 5, sequencesPerBatch: 4, backend: { learningRate: 0.1 } },
      rewards: { quality: () => scores[Math.floor(answers++ / 2)]! },
      evaluation: { heldOut: 2, every: 2, maxTokens: 2 },
      engine: { thread: 'inline', threads: 1 },
      output: join(output, 'run'),
    },
    { stream: new Writable({ write: (_, __, done) => done() }) },
  );
  expect([status, answers]).toEqual(['finished', 8]);
  const files = runFiles(join(output, 'run'));
  expect((await readRunRecord(files.run))?.best).toEqual({ iteration: 4, score: 0.75, tasks: 2 });
  const [best, last] = await Promise.all(
    ['best', 'last'].map((name) => loadModel(join(files.checkpoints, name))),
  );
  const [name, weights] = [...best!.weights][0]!;
  expect(last!.weights.get(name)!.data).not.toEqual(weights.data);
  expect(savedModel(join(output, 'run'))).toBe(join(files.checkpoints, 'best'));
});
