import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releaseDirectory } from '@rlp/data/store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openFolder, readFolder } from './open-folder.ts';
import { hostFacts, type RunRecord } from './run-record.ts';

const at = new Date(0).toISOString();
const earlier: RunRecord = {
  ...{ record: 'run', version: 1, config: { seed: 'a' }, mode: 'sft', status: 'failed' },
  ...{ startedAt: at, updatedAt: at, seconds: 0, stages: {}, seeds: { run: 'a' }, versions: {} },
  host: hostFacts(),
};
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'open-folder-'));
  writeFileSync(join(directory, 'run.json'), JSON.stringify(earlier));
  writeFileSync(join(directory, 'metrics.jsonl'), '');
  mkdirSync(join(directory, 'evaluations'));
  writeFileSync(join(directory, 'evaluations', 'before.json'), '{}');
});
afterEach(() => rmSync(directory, { recursive: true }));

const other = () => ({ directory, config: { seed: 'b' }, existing: 'resume' }) as const;

it('begins anew in place of a run of another configuration that saved nothing', async () => {
  expect(await readFolder({ ...other(), config: { seed: 'a' } })).toMatchObject({ status: 'failed' });
  expect(await openFolder(other())).toBeUndefined();
  expect(readdirSync(directory).filter((name) => !name.startsWith('.'))).toEqual([]);
  await releaseDirectory(directory);
});

it.each(['checkpoints', 'evaluations/final.json', 'metrics.jsonl'])(
  'keeps a run of another configuration that has %s',
  async (name) => {
    const path = join(directory, name);
    if (name.includes('.json')) writeFileSync(path, '{"step":1}\n');
    else mkdirSync(path);
    await expect(openFolder(other())).rejects.toThrow(
      /another configuration \(seed: "a" there, "b" here\); .* --out \(in code `output`\), .* --new \(in code `{ existing: 'new' }`\)$/,
    );
    expect(readdirSync(directory)).toContain('run.json');
  },
);

it('takes a path that is said from another working directory for the same', async () => {
  const config = { model: '../models/m', sft: { data: 'conf/rows.jsonl' } };
  const host = { ...hostFacts(), directory: join(process.cwd(), 'project') };
  writeFileSync(join(directory, 'run.json'), JSON.stringify({ ...earlier, config, host }));
  writeFileSync(join(directory, 'metrics.jsonl'), '{"step":1}\n');
  const read = (data: string) =>
    readFolder({ directory, config: { model: './models/m', sft: { data } }, existing: 'resume' });
  expect(await read('./project/conf/rows.jsonl')).toMatchObject({ config });
  await expect(read('conf/rows.jsonl')).resolves.toMatchObject({ config });
  await expect(read('conf/other.jsonl')).rejects.toThrow(
    'sft.data: "conf/rows.jsonl" there, "conf/other.jsonl" here',
  );
});

it.each([
  [{ algorithm: { iterations: 30 } }, 'longer'],
  [{ algorithm: { iterations: 10 } }, 'another'],
  [{ algorithm: {} }, 'another'],
  [{ algorithm: { iterations: 30 }, seed: 'b' }, 'another'],
  [{ algorithm: { iterations: 30 }, backend: { schedule: { kind: 'cosine' } } }, 'another'],
] as const)('takes a run with 20 iterations and %j for %s', async (config, kind) => {
  const stages = { rl: { iterations: 20, isFinished: true } };
  const before = { ...config, algorithm: { iterations: 20 }, seed: 'a' };
  const host = { ...hostFacts(), directory: '/elsewhere' };
  const record = { ...earlier, mode: 'rl', status: 'finished', config: before, stages, host };
  writeFileSync(join(directory, 'run.json'), JSON.stringify(record));
  mkdirSync(join(directory, 'checkpoints'));
  const wanted = { seed: 'a', ...config };
  const found = readFolder({ directory, config: wanted, existing: 'resume' });
  if (kind === 'another') return expect(found).rejects.toThrow(/another configuration/);
  expect(await found).toMatchObject({
    ...{ config: wanted, status: 'stopped', host: { directory: process.cwd() } },
    stages: { rl: { iterations: 20, isFinished: false } },
  });
});
