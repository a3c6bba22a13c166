import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { characterTokenizer, createModel, parseModelConfig, saveModel } from '@rlp/models';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunMode } from '../config/modes.ts';
import { runFiles } from '../folder/run-files.ts';
import { hostFacts, type RunRecord, readRunRecord } from '../folder/run-record.ts';
import { loadRunModel, requireModel } from './load-run-model.ts';

let run: string;
beforeAll(async () => {
  run = await mkdtemp(join(tmpdir(), 'rlp-run-model-'));
});
afterAll(() => rm(run, { recursive: true }));

/** Writes a `run.json`, as a run of this mode does. */
async function writeRecord(mode: RunMode): Promise<void> {
  const record = {
    ...{ record: 'run', version: 1, config: { model: 'models/base' }, mode, status: 'finished', stages: {} },
    ...{ startedAt: '', updatedAt: '', seconds: 1, seeds: { run: '0' }, versions: {}, host: hostFacts() },
  } satisfies RunRecord;
  await writeFile(runFiles(run).run, JSON.stringify(record));
}

/** Saves a model of so many layers as a run does. */
async function save(name: 'best' | 'last', layers: number): Promise<void> {
  const tokenizer = characterTokenizer('ab', { end: '.' });
  const shape = { model_type: 'llama', vocab_size: 4, hidden_size: 8, intermediate_size: 8 };
  const config = parseModelConfig({ ...shape, num_hidden_layers: layers, num_attention_heads: 1 }, name);
  await saveModel(join(runFiles(run).checkpoints, name), createModel({ config, tokenizer, seed: name }));
}

it('goes on from the best model of a run, or from the last one', async () => {
  const config = { model: run, seed: '0' };
  await mkdir(runFiles(run).checkpoints, { recursive: true });
  await writeRecord('sft');
  await expect(requireModel(config, undefined)).rejects.toThrow(/the run .* has saved no model yet/);
  await expect(readRunRecord(run)).rejects.toThrow(`${run} is a folder; give its run.json`);
  await writeRecord('eval');
  const remedy = `model: the run ${run} only evaluates and saves no model; give models/base`;
  await expect(requireModel(config, undefined)).rejects.toThrow(remedy);
  await save('last', 1);
  await requireModel(config, undefined);
  expect((await loadRunModel(config)).config.layers).toBe(1);
  await save('best', 2);
  expect((await loadRunModel(config)).config.layers).toBe(2);
});

it('refuses a new model whose weights this machine cannot hold', async () => {
  const create = {
    ...{ tokenizer: 'bytes' as const, layers: 2000, hiddenSize: 65_536, heads: 64 },
    ...{ contextLength: 8, initializerRange: 0.05 },
  };
  await expect(loadRunModel({ model: { create }, seed: '0' })).rejects.toThrow(
    /^model\.create: its weights would take \d+ GiB, and this machine has \d+ GiB of memory; lower/,
  );
});
