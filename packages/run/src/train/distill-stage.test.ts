import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunConfig } from '../config/run-schema.ts';
import { trainRun } from './train-run.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-distill-'));
});
afterAll(() => rm(directory, { recursive: true }));

const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
const created = (seed: string, characters = '0123456789+=') =>
  ({
    create: {
      tokenizer: { characters },
      ...{ layers: 1, hiddenSize: 16, heads: 2, contextLength: 32, seed },
    },
  }) satisfies RunConfig['model'];
const data = Array.from({ length: 20 }, (_, index) => ({
  id: `sum-${index}`,
  prompt: `${index % 10}+${Math.floor(index / 10)}=`,
  metadata: { answer: '7' },
}));
const shared = { data, engine: { thread: 'inline' as const, threads: 1 }, evaluation: 'none' as const };
const learned = (updates: number) => ({
  sft: { updates, sequencesPerBatch: 10, backend: { learningRate: 1e-2 } },
});

it('comes nearer to a teacher, on its own text', async () => {
  const teacher = await trainRun(
    { ...shared, ...learned(30), output: join(directory, 'teacher'), model: created('teacher') },
    { stream },
  );
  const distill = {
    ...{ teacher: teacher.model!, iterations: 15, tasksPerIteration: 20 },
    rollout: { sampling: { maxTokens: 4 } },
    backend: { learningRate: 1e-2 },
  };
  const output = join(directory, 'student');
  const result = await trainRun({ ...shared, output, distill, model: created('student') }, { stream });
  expect(result).toMatchObject({ status: 'finished', mode: 'distill' });
  const rows = metricRowsFromJsonl(await readFile(result.files.metrics, 'utf8'), 'metrics');
  const kl = rows.map(({ metrics }) => metrics['kl/reference']!);
  expect(rows).toHaveLength(15);
  expect(kl.at(-1)!).toBeLessThan(0.8 * kl[0]!);
}, 60_000);

it('refuses a teacher that is not there or has another vocabulary, before anything is measured', async () => {
  const output = join(directory, 'none');
  const missing = {
    ...shared,
    output,
    model: created('student'),
    distill: { teacher: join(directory, 'away') },
  };
  await expect(trainRun(missing, { stream })).rejects.toThrow(/away\/tokenizer\.json: no such file/);
  expect(existsSync(output)).toBe(false);
  const teacher = await trainRun(
    { ...shared, ...learned(1), output: join(directory, 'other'), model: created('other', 'x0123456789+=') },
    { stream },
  );
  const run = trainRun(
    {
      ...{ ...shared, output: join(directory, 'none'), model: created('student') },
      distill: { teacher: teacher.model! },
    },
    { stream },
  );
  await expect(run).rejects.toThrow(/distill\.teacher: .* has another vocabulary/);
}, 60_000);
