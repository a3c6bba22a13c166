import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineError } from '@rlp/core';
import { expect, it } from 'vitest';
import { loadGroup, storeGroup } from './group-results.ts';

const group = { id: '0/a', task: { id: 'a', prompt: '', metadata: undefined }, trajectories: [] };
const job = { name: 'job', groupId: '0/a' };

it('keeps a group in the queue, or in one file of a folder', async () => {
  expect(await loadGroup(job, await storeGroup('ab', group, undefined), undefined)).toEqual(group);
  const root = await mkdtemp(join(tmpdir(), 'rlp-groups-'));
  const folder = join(root, 'results');
  const stored = await storeGroup('ab', group, folder);
  expect([stored, await readdir(folder)]).toEqual([{ file: 'ab.json' }, ['ab.json']]);
  expect(await storeGroup('ab', group, folder)).toEqual(stored);
  expect(await readdir(folder)).toEqual(['ab.json']);
  expect(await loadGroup(job, stored, folder)).toEqual({ ...group, task: { id: 'a', prompt: '' } });
  await rm(root, { recursive: true });
});

it.each([
  [{ file: '../secret.json' }, 'expected a group, got another result'],
  [{ group: { id: '0/a' } }, 'expected a group, got another result'],
  [null, 'expected a group, got another result'],
  [{ file: 'ab.json' }, 'set `results` here too'],
  [{ group: { ...group, id: '0/b' } }, 'expected the group 0/a, got 0/b'],
])('refuses %j', async (result, message) => {
  const loading = loadGroup(job, result, undefined);
  await expect(loading).rejects.toThrow(EngineError);
  await expect(loading).rejects.toThrow(message);
});
