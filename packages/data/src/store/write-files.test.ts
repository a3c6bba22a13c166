import { RandomStream } from '@rlp/core';
import { expect, it } from 'vitest';
import { SimulatedDisk } from '../testing/index.ts';
import { readText, writeFully, writeNewFile } from './file-system.ts';
import type { StoreHost } from './host.ts';
import { writeDirectory } from './write-directory.ts';
import { type FilePlan, writeFiles, writeTextFile } from './write-files.ts';

const create = () => {
  const disk = new SimulatedDisk(RandomStream.named('write-files'));
  return { disk, host: disk.startProcess() };
};
const plan = (host: StoreHost, texts: Readonly<Record<string, string>>): FilePlan =>
  new Map(
    Object.entries(texts).map(([path, text]) => [
      path,
      async (temporary: string) => {
        const file = await host.files.open(temporary, 'wx');
        await writeFully(file, new TextEncoder().encode(text));
        await file.close();
      },
    ]),
  );
const textsOf = async ({ files }: StoreHost, ...names: string[]) =>
  Promise.all(names.map((path) => readText(files, path)));

it('writes all files and leaves nothing beside them, in the order of the plan', async () => {
  const { disk, host } = create();
  await host.files.mkdir('/model');
  await writeFiles(plan(host, { '/model/a': 'one', '/model/b': 'two' }), [], host);
  expect(await textsOf(host, '/model/a', '/model/b')).toEqual(['one', 'two']);
  expect(disk.paths()).toEqual(['/model', '/model/a', '/model/b']);
  const renamed = disk.log.flatMap((entry) => /^rename \S+ (\S+)$/.exec(entry)?.[1] ?? []);
  expect(renamed).toEqual(['/model/a', '/model/b']);
  // Each file is on disk before it gets its name, also if whoever wrote it did not see to that.
  for (const [at, entry] of disk.log.entries()) {
    const temporary = /^rename (\S+) \S+$/.exec(entry)?.[1];
    if (temporary !== undefined) expect(disk.log.slice(0, at)).toContain(`sync ${temporary}`);
  }
});

it('keeps the earlier files if one cannot be written', async () => {
  const { disk, host } = create();
  await host.files.mkdir('/model');
  await writeFiles(plan(host, { '/model/a': 'one', '/model/b': 'two' }), [], host);
  const failing = new Map([
    ...plan(host, { '/model/a': 'new' }),
    ['/model/b', () => Promise.reject(new Error('no more'))] as const,
  ]);
  await expect(writeFiles(failing, ['/model/b'], host)).rejects.toThrow('no more');
  expect(await textsOf(host, '/model/a', '/model/b')).toEqual(['one', 'two']);
  expect(disk.paths()).toEqual(['/model', '/model/a', '/model/b']);
});

it('removes what is obsolete only when the new files are in place', async () => {
  const { disk, host } = create();
  await host.files.mkdir('/model');
  await writeNewFile(host.files, '/model/old', 'old');
  const first = disk.log.length;
  await writeFiles(plan(host, { '/model/new': 'new' }), ['/model/old'], host);
  expect(disk.paths()).toEqual(['/model', '/model/new']);
  const changes = disk.log.slice(first).filter((entry) => /^(rename|unlink|sync) /.test(entry));
  const at = (pattern: RegExp) => changes.findIndex((entry) => pattern.test(entry));
  const [renamed, removed] = [at(/^rename .* \/model\/new$/), at(/^unlink \/model\/old$/)];
  expect(renamed).toBeGreaterThanOrEqual(0);
  expect(removed).toBeGreaterThan(renamed);
  // The new name is on disk before the old file goes, and the removal is too in the end.
  expect(changes.slice(renamed, removed)).toContain('sync /model');
  expect(changes.slice(removed)).toContain('sync /model');
});

it('drops checksums of the directory that no longer fit, and keeps others', async () => {
  const { disk, host } = create();
  const fill = (folder: string) => writeNewFile(host.files, `${folder}/a`, 'sealed');
  await writeDirectory('/model', fill, host);
  expect(disk.paths()).toContain('/model/SHA256SUMS');
  await writeFiles(plan(host, { '/model/beside': 'x' }), [], host);
  expect(disk.paths()).toContain('/model/SHA256SUMS');
  await writeFiles(plan(host, { '/model/a': 'changed' }), [], host);
  expect(disk.paths()).not.toContain('/model/SHA256SUMS');
});

it('removes temporary files of processes that have ended', async () => {
  const { disk, host } = create();
  await host.files.mkdir('/model');
  disk.fault = { at: disk.log.length + 3, kind: 'kill-after' };
  await writeFiles(plan(host, { '/model/a': 'one' }), [], host).catch(() => undefined);
  disk.fault = undefined;
  expect(disk.paths().filter((path) => path.includes('.partial'))).toHaveLength(1);
  const next = disk.startProcess();
  await writeFiles(plan(next, { '/model/b': 'two' }), [], next);
  expect(disk.paths()).toEqual(['/model', '/model/b']);
});

it('does nothing without files', async () => {
  const { disk, host } = create();
  await writeFiles(new Map(), ['/model/old'], host);
  expect(disk.log).toEqual([]);
});

it('writes a text with its directory, and keeps the earlier one if the disk is full', async () => {
  const { host } = create();
  await writeTextFile('/new/folder/page.html', 'one', host);
  const full: StoreHost = {
    ...host,
    files: { ...host.files, rename: () => Promise.reject(new Error('ENOSPC')) },
  };
  await expect(writeTextFile('/new/folder/page.html', 'two', full)).rejects.toThrow('ENOSPC');
  expect(await textsOf(host, '/new/folder/page.html')).toEqual(['one']);
  expect(await host.files.readdir('/new/folder')).toEqual(['page.html']);
});

it('leaves files of running processes, directories and other files', async () => {
  const { disk, host } = create();
  await host.files.mkdir('/model');
  const names = ['.a.00000000-1-1.00000001.partial', '.b.00000000-1-1.00000001.replaced', '.c'];
  for (const name of names) await writeNewFile(host.files, `/model/${name}`, 'x');
  await host.files.mkdir('/model/.d.00000000-1-1.00000001.partial');
  const running = disk.startSecondProcess();
  await writeFiles(plan(running, { '/model/e': 'one' }), [], running);
  expect(disk.paths()).toHaveLength(6);
  const next = disk.startProcess();
  await writeFiles(plan(next, { '/model/e': 'two' }), [], next);
  expect(disk.paths().map((path) => path.slice('/model/'.length))).toEqual([
    ...['', ...names.slice(1), '.d.00000000-1-1.00000001.partial', 'e'],
  ]);
});

it('flushes the names before the last one, which exchanges all at once', async () => {
  const changesOf = async (...names: string[]) => {
    const { disk, host } = create();
    await host.files.mkdir('/model');
    const start = disk.log.length;
    await writeFiles(plan(host, Object.fromEntries(names.map((name) => [`/model/${name}`, name]))), [], host);
    const changes = disk.log
      .slice(start)
      .flatMap((line) => /^(?:rename \S+|sync) (\/model(?:\/[a-z])?)$/.exec(line)?.[1] ?? []);
    return changes.join(' ');
  };
  expect(await changesOf('a')).toBe('/model/a /model');
  expect(await changesOf('a', 'b', 'c')).toBe('/model/a /model/b /model /model/c /model');
});
