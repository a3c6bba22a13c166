import { RandomStream } from '@rlp/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { continueNumbered, newestNumbered, type StoreHost, saveNumbered } from '../store.ts';
import { SimulatedDisk } from '../testing/index.ts';
import { sealDirectory } from './checksums.ts';
import { writeNewFile } from './file-system.ts';

let disk: SimulatedDisk;
let host: StoreHost;
beforeEach(() => {
  disk = new SimulatedDisk(RandomStream.named('0', 'numbered'));
  host = disk.startProcess();
});

const save = (number: number, text: string, by = host, keep = 2) =>
  saveNumbered('/run', { number, keep }, (path) => writeNewFile(by.files, `${path}/a`, text), by);
const textOf = (path: string) => new TextDecoder().decode(disk.bytesOf(path));
const checkpoints = () => disk.paths().filter((path) => /^\/run\/checkpoint-[^/]*$/.test(path));

describe('saveNumbered', () => {
  it('keeps the newest and names it in `latest`', async () => {
    for (const number of [1, 2, 3]) await save(number, `${number}`);
    expect(checkpoints()).toEqual(['/run/checkpoint-00000002', '/run/checkpoint-00000003']);
    expect(textOf('/run/latest')).toBe('checkpoint-00000003\n');
    expect(await newestNumbered('/run', host)).toBe('/run/checkpoint-00000003');
  });

  it('does nothing if an equal checkpoint exists, and replaces one that is damaged', async () => {
    const path = await save(1, 'text', host, 1);
    const operations = disk.log.length;
    expect(await save(1, 'text', host, 1)).toBe(path);
    expect(disk.log.slice(operations).filter((line) => line.startsWith('rename'))).toEqual([]);
    disk.bytesOf(`${path}/a`)[0]! ^= 1;
    expect(await save(1, 'text', host, 1)).toBe('/run/checkpoint-00000001-2');
    expect(checkpoints()).toEqual(['/run/checkpoint-00000001-2']);
    expect(await save(1, 'other', host, 1)).toBe('/run/checkpoint-00000001-3');
    expect(await save(2, 'next', host, 1)).toBe('/run/checkpoint-00000002');
  });

  it('never has fewer checkpoints than before', async () => {
    await save(1, 'a');
    await save(2, 'b');
    const counts: number[] = [];
    disk.onOperation = () =>
      counts.push(disk.paths().filter((path) => /\/checkpoint-[^/]*\/SHA256SUMS$/.test(path)).length);
    await save(2, 'c');
    await save(3, 'd');
    await save(3, 'd');
    expect(Math.min(...counts)).toBe(2);
  });

  it('does not save beside a run that went farther, or one that this process did not continue', async () => {
    await save(5, 'a');
    await expect(save(4, 'b')).rejects.toThrow(
      'holds checkpoint-00000005 of a run that went farther than iteration 4',
    );
    const next = disk.startProcess();
    await expect(save(6, 'b', next)).rejects.toThrow(
      '/run holds checkpoint-00000005 of an earlier run that this process did not resume; load it first to continue it',
    );
    expect(checkpoints()).toEqual(['/run/checkpoint-00000005']);
    expect(await continueNumbered('/run', next)).toBe('/run/checkpoint-00000005');
    await save(6, 'b', next);
  });

  it('does not publish if another process took the directory over while it wrote', async () => {
    const remote = { ...disk.startSecondProcess(), liveness: () => 'dead' as const };
    const saving = saveNumbered(
      '/run',
      { number: 1 },
      async (path) => {
        await writeNewFile(host.files, `${path}/a`, 'mine');
        await continueNumbered('/run', remote);
      },
      host,
    );
    await expect(saving).rejects.toThrow();
    await save(1, 'theirs', remote);
    expect(checkpoints()).toEqual(['/run/checkpoint-00000001']);
    expect(textOf('/run/checkpoint-00000001/a')).toBe('theirs');
  });
});

describe('continueNumbered', () => {
  /** Ends the process right before the checkpoint takes its name. */
  async function dieBeforeName(number: number): Promise<void> {
    const rehearsal = new SimulatedDisk(RandomStream.named('0', 'rehearsal'));
    const at = async (target: SimulatedDisk, by: StoreHost) => {
      await saveNumbered('/run', { number: 1 }, (path) => writeNewFile(by.files, `${path}/a`, '1'), by);
      const start = target.log.length;
      await saveNumbered('/run', { number }, (path) => writeNewFile(by.files, `${path}/a`, '2'), by);
      return target.log.findIndex((line, index) => index >= start && /^rename.*checkpoint-0*2$/.test(line));
    };
    const index = await at(rehearsal, rehearsal.startProcess());
    disk.fault = { at: index, kind: 'kill-before' };
    await expect(at(disk, host)).rejects.toThrow('killed');
    disk.fault = undefined;
  }

  it('names a complete checkpoint that its process could not name any more', async () => {
    await dieBeforeName(2);
    expect(await newestNumbered('/run', disk.startSecondProcess())).toBe('/run/checkpoint-00000001');
    const next = disk.startProcess();
    expect(await continueNumbered('/run', next)).toBe('/run/checkpoint-00000002');
    expect(textOf('/run/latest')).toBe('checkpoint-00000002\n');
    expect(disk.paths().some((path) => path.includes('partial'))).toBe(false);
  });

  it('removes one that is damaged', async () => {
    await dieBeforeName(2);
    const partial = disk.paths().find((path) => path.endsWith('.partial/a'))!;
    disk.bytesOf(partial)[0]! ^= 1;
    expect(await continueNumbered('/run', disk.startProcess())).toBe('/run/checkpoint-00000001');
    expect(disk.paths().some((path) => path.includes('partial'))).toBe(false);
  });

  it('resolves with nothing for an empty directory, and holds it', async () => {
    expect(await continueNumbered('/run', host)).toBeUndefined();
    await expect(continueNumbered('/run', disk.startSecondProcess())).rejects.toThrow(
      'process 1 on simulated',
    );
    expect(await newestNumbered('/run', disk.startSecondProcess())).toBeUndefined();
  });

  it.each([
    [
      'a complete checkpoint of the last holder',
      '.checkpoint-00000002.00000000-1-1.0000000a.partial',
      'named',
    ],
    ['one that is not complete', '.checkpoint-00000002.00000000-1-1.0000000a.partial', 'removed'],
    ['one that was being removed', '.checkpoint-00000002.00000000-1-1.0000000a.removed', 'removed'],
    ['one of another process', '.checkpoint-00000002.00000000-9-1.0000000a.partial', 'removed'],
    ['one whose number is there', '.checkpoint-00000001.00000000-1-1.0000000a.partial', 'removed'],
    ['a pointer', '.latest.00000000-1-1.0000000a.partial', 'removed'],
    ['what is no checkpoint', '.other.00000000-1-1.0000000a.partial', 'left'],
  ])('finds %s: %s is %s', async (what, name, fate) => {
    await save(1, 'one');
    await host.files.mkdir(`/run/${name}`);
    await writeNewFile(host.files, `/run/${name}/a`, 'two');
    if (!what.includes('not complete')) await sealDirectory(host.files, `/run/${name}`);
    const newest = await continueNumbered('/run', disk.startProcess());
    expect(newest).toBe(fate === 'named' ? '/run/checkpoint-00000002' : '/run/checkpoint-00000001');
    expect(disk.paths().includes(`/run/${name}`)).toBe(fate === 'left');
  });

  it('leaves what it is writing itself', async () => {
    const own = '/run/.checkpoint-00000002.00000000-1-1.0000000a.partial';
    await host.files.mkdir('/run');
    await host.files.mkdir(own);
    await continueNumbered('/run', host);
    expect(disk.paths()).toContain(own);
  });

  it('takes the highest number and its last save, not the last by name', async () => {
    await host.files.mkdir('/run');
    const names = [
      'checkpoint-99999999',
      'checkpoint-100000000',
      'checkpoint-100000000-9',
      'checkpoint-100000000-10',
      'checkpoint-9',
      'checkpoint-200000000x',
    ];
    for (const name of names) await host.files.mkdir(`/run/${name}`);
    expect(await newestNumbered('/run', host)).toBe('/run/checkpoint-100000000-10');
  });

  it('reads where it cannot write', async () => {
    await save(1, 'one');
    const next = disk.startProcess();
    const refusing = (code: string) => ({
      ...next,
      files: { ...next.files, mkdir: () => Promise.reject(Object.assign(new Error(code), { code })) },
    });
    for (const code of ['EROFS', 'EACCES', 'EPERM'])
      expect(await continueNumbered('/run', refusing(code))).toBe('/run/checkpoint-00000001');
    await expect(continueNumbered('/run', refusing('EIO'))).rejects.toThrow('EIO');
  });
});
