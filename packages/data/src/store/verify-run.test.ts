import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RandomStream } from '@rlp/core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checksumFile, saveNumbered, verifyRun, writeDirectory } from '../store.ts';
import { SimulatedDisk } from '../testing/index.ts';
import { writeNewFile } from './file-system.ts';
import { ownIdentity } from './process-identity.ts';

let run: string;
beforeEach(async () => {
  run = await mkdtemp(join(tmpdir(), 'rlp-verify-run-'));
});
afterEach(() => rm(run, { recursive: true }));

const save = (number: number) =>
  saveNumbered(join(run, 'rl'), { number, keep: 5 }, (folder) =>
    writeFile(join(folder, 'weights'), `${number}`),
  );
const checkpoints = async () =>
  (await readdir(join(run, 'rl'))).filter((name) => !name.startsWith('.') && name !== 'latest').sort();

it('finds saves whose files all fit, wherever they are, and who writes there', async () => {
  await save(1);
  await save(2);
  await writeDirectory(join(run, 'sft'), (folder) => writeFile(join(folder, 'model'), 'm'));
  await writeFile(join(run, 'progress.json'), '{"seconds": 1}');
  await writeFile(join(run, 'metrics.jsonl'), '{"a": 1}\n\n{"a": 2}\n');
  const { intact, problems, leftovers, holder } = await verifyRun(run);
  const saves = (await checkpoints()).filter((name) => /\d/.test(name)).map((name) => join(run, 'rl', name));
  expect([...intact].sort()).toEqual([...saves, join(run, 'sft')].sort());
  expect(saves).toHaveLength(2);
  expect({ problems, leftovers }).toEqual({ problems: [], leftovers: [] });
  expect(holder).toMatchObject(ownIdentity());
});

it('names files that were changed, and saves that are incomplete', async () => {
  await save(1);
  await save(2);
  const [first, second] = (await checkpoints()).map((name) => join(run, 'rl', name));
  await writeFile(join(first!, 'weights'), 'changed');
  await rm(join(second!, checksumFile));
  const { intact, problems } = await verifyRun(run);
  expect(intact).toEqual([]);
  expect(problems).toHaveLength(2);
  expect(problems.join('\n')).toContain(join(first!, 'weights'));
  expect(problems.join('\n')).toContain(
    `${second}: ${checksumFile} is missing, so nothing can tell whether its files are damaged; continue from it only if you deleted that file after an edit`,
  );
});

it('names a list of checksums that is none', async () => {
  await writeDirectory(join(run, 'sft'), (folder) => writeFile(join(folder, 'model'), 'm'));
  await writeFile(join(run, 'sft', checksumFile), 'abc model\n');
  const { intact, problems } = await verifyRun(run);
  expect(intact).toEqual([]);
  expect(problems).toEqual([expect.stringContaining('expected lines of a SHA-256 and a file name')]);
});

it('names values that are not JSON, and who repairs them', async () => {
  await writeFile(join(run, 'progress.json'), '{"seconds": ');
  await writeFile(join(run, 'metrics.jsonl'), '{"a": 1}\n \t\nbroken\n{"a": 2');
  await writeFile(join(run, 'notes.txt'), 'not JSON');
  await mkdir(join(run, '.cache'));
  await writeFile(join(run, '.cache', 'x.json'), 'not looked at');
  expect((await verifyRun(run)).problems).toEqual([
    `${join(run, 'metrics.jsonl')}, line 3: not valid JSON; delete or correct it`,
    `${join(run, 'metrics.jsonl')}, line 4: not valid JSON; the next append repairs it`,
    `${join(run, 'progress.json')}: not valid JSON; delete or correct it`,
  ]);
});

it('has no holder where nobody writes, and rejects where nothing is', async () => {
  expect(await verifyRun(run)).toEqual({ intact: [], problems: [], leftovers: [], holder: undefined });
  await expect(verifyRun(join(run, 'none'))).rejects.toThrow('ENOENT');
});

it('finds one save of a number that was saved again, however many are kept', async () => {
  for (const number of [1, 2, 2]) await save(number);
  const { intact, problems } = await verifyRun(run);
  expect([intact.length, problems]).toEqual([2, []]);
});

it('names a pointer to a checkpoint that is not there, and leaves other files of that name alone', async () => {
  await save(1);
  await writeFile(join(run, 'latest'), 'a note');
  await writeFile(join(run, 'rl', 'latest'), 'checkpoint-00000007\n');
  const { problems } = await verifyRun(run);
  expect(problems).toEqual([
    `${join(run, 'rl', 'latest')}: names "checkpoint-00000007", which is not there; the next save corrects it`,
  ]);
  await rm(join(run, 'rl', 'latest'));
  expect((await verifyRun(run)).problems).toEqual([]);
});

it('finds leftovers of processes that have ended, but not the files of one that writes', async () => {
  const disk = new SimulatedDisk(RandomStream.named('leftovers'));
  const dead = disk.startProcess();
  await dead.files.mkdir('/run');
  await writeNewFile(dead.files, '/run/.a.00000000-1-1.00000009.partial', 'x');
  const living = disk.startProcess();
  await writeNewFile(living.files, '/run/.b.00000000-2-1.00000009.partial', 'x');
  expect(await verifyRun('/run', living)).toEqual({
    ...{ intact: [], problems: [], holder: undefined },
    leftovers: ['/run/.a.00000000-1-1.00000009.partial'],
  });
});

it('asks for one value of a file .json, which an empty one has not, and for none of an empty .jsonl', async () => {
  await writeFile(join(run, 'empty.json'), ' ');
  await writeFile(join(run, 'empty.jsonl'), '');
  await writeFile(join(run, 'two.json'), '1\n2');
  await writeFile(join(run, 'two.jsonl'), '1\n2');
  await writeFile(join(run, 'a.json5'), '{');
  expect((await verifyRun(run)).problems).toEqual(
    ['empty.json', 'two.json'].map((name) => `${join(run, name)}: not valid JSON; delete or correct it`),
  );
});
