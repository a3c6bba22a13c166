import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exists, HubCache } from './hub-cache.ts';

let root: string;
let cache: HubCache;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rlp-hub-cache-'));
  cache = new HubCache(root, { type: 'model', name: 'owner/name' });
});
afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, text = 'text'): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

it("has the folders of Hugging Face's libraries", () => {
  const folder = join(root, 'models--owner--name');
  expect(cache).toMatchObject({ directory: folder, locks: join(root, '.locks', 'models--owner--name') });
  expect([cache.blob('ab'), cache.snapshot('c1')]).toEqual([
    join(folder, 'blobs', 'ab'),
    join(folder, 'snapshots', 'c1'),
  ]);
  expect(new HubCache(root, { type: 'dataset', name: 'gpt2' }).directory).toBe(join(root, 'datasets--gpt2'));
});

it('knows the commit of a revision if its snapshot is there', async () => {
  expect(await cache.commitOf('main')).toBeUndefined();
  await cache.rememberRevision('main', 'c1');
  expect(await cache.commitOf('main')).toBeUndefined();
  mkdirSync(cache.snapshot('c1'), { recursive: true });
  expect([await cache.commitOf('main'), await cache.commitOf('c1'), await cache.commitOf('c2')]).toEqual([
    'c1',
    'c1',
    undefined,
  ]);
  put(join(cache.directory, 'refs', 'v1'), 'c1\n');
  expect(await cache.commitOf('v1')).toBe('c1');
});

it('remembers no revision that is its own commit', async () => {
  await cache.rememberRevision('c1', 'c1');
  expect(await exists(join(cache.directory, 'refs'))).toBe(false);
  await cache.rememberRevision('pr/1', 'c1');
  expect(readFileSync(join(cache.directory, 'refs', 'pr', '1'), 'utf8')).toBe('c1');
});

it('lists the files of a snapshot whose content is there', async () => {
  put(join(cache.snapshot('c1'), 'data', 'a.csv'));
  put(join(cache.snapshot('c1'), 'b.csv'));
  symlinkSync(join(root, 'nowhere'), join(cache.snapshot('c1'), 'lost.csv'));
  expect([...(await cache.filesOf('c1'))].sort()).toEqual(['b.csv', 'data/a.csv']);
});

it('links a file to its content, over a link that leads nowhere, and leaves one that is there', async () => {
  put(cache.blob('ab'), 'content');
  const target = join(cache.snapshot('c1'), 'data', 'a.csv');
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(root, 'nowhere'), target);
  await cache.link('c1', 'data/a.csv', 'ab');
  expect([readlinkSync(target), readFileSync(target, 'utf8')]).toEqual([
    join('..', '..', '..', 'blobs', 'ab'),
    'content',
  ]);
  put(cache.blob('cd'), 'other');
  await cache.link('c1', 'data/a.csv', 'cd');
  expect(readFileSync(target, 'utf8')).toBe('content');
});

it('does not hide why a file cannot be linked', async () => {
  put(cache.snapshot('c1'), 'a file where the folder belongs');
  await expect(cache.link('c1', 'a.csv', 'ab')).rejects.toThrow(/EEXIST|ENOTDIR/);
});
