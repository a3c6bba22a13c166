import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunConfig } from '../config/run-schema.ts';
import { runFiles } from '../folder/run-files.ts';
import { trainRun } from './train-run.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-changed-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A run on rows of a file, which may change. */
async function begun() {
  const data = join(directory, 'sums.jsonl');
  const write = (ids: string) =>
    writeFile(
      data,
      Array.from(ids, (id, n) => `{"id":"${id}","prompt":"${n}+1=","answer":"${n + 1}"}`).join('\n'),
    );
  await write('abcdefghi');
  const config: RunConfig = {
    model: { create: { tokenizer: { characters: '0123456789+=' }, layers: 1, hiddenSize: 8, heads: 1 } },
    ...{ data, output: join(directory, 'run') },
    ...{ sft: { updates: 1 }, evaluation: { heldOut: 3, maxTokens: 2 } },
    engine: { thread: 'inline', threads: 1 },
  };
  let said = '';
  const run = async () => {
    said = '';
    const stream = new Writable({
      write(chunk, _, done) {
        said += String(chunk);
        done();
      },
    });
    return trainRun(config, { stream });
  };
  await run();
  return { run, write, files: runFiles(config.output!), said: () => said };
}

it('refuses to go on with data of which other rows would be held out', async () => {
  const { run, write, said } = await begun();
  await run();
  expect(said()).toMatch(
    /run is finished\. To train again, choose another folder with --out .* --new .*\.\n$/,
  );
  await write('stuvwxyz');
  await expect(run()).rejects.toThrow(
    /the data has changed, .* \(6 rows to learn from and 3 held out then, 5 rows .* or delete that run with --new/,
  );
});

it('measures other rows before training, if an earlier run failed before its first checkpoint', async () => {
  const { run, write, files } = await begun();
  const record = JSON.parse(await readFile(files.run, 'utf8'));
  await writeFile(files.run, JSON.stringify({ ...record, status: 'failed', stages: {}, best: undefined }));
  for (const path of [files.checkpoints, files.summary, files.metrics]) await rm(path, { recursive: true });
  for (const name of await readdir(files.evaluations))
    if (!name.startsWith('before.')) await rm(join(files.evaluations, name));
  await write('stuvwxyz');
  const { evaluation } = await run();
  const before = JSON.parse(await readFile(join(files.evaluations, 'before.json'), 'utf8'));
  const idsOf = ({ tasks }: { readonly tasks: readonly { readonly task: string }[] }) =>
    tasks.map(({ task }) => task);
  expect(idsOf(before)).toEqual(idsOf(evaluation!));
  expect(idsOf(before).join('')).toMatch(/^[s-z]{3}$/);
});
