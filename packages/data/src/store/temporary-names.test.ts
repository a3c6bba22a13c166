import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { SimulatedDisk } from '../testing/index.ts';
import { writeNewFile } from './file-system.ts';
import {
  discard,
  isAbandoned,
  parseTemporaryName,
  renameIfThere,
  temporaryNames,
  temporaryPath,
} from './temporary-names.ts';

const disk = () => new SimulatedDisk(RandomStream.named('temporary names'));
const day = 86_400_000;

describe('temporary names', () => {
  it('say which process made them, for what', () => {
    const host = disk().startProcess();
    const path = temporaryPath(host, '/runs/my.model', 'replaced');
    expect(path).toBe('/runs/.my.model.00000000-1-1.00000001.replaced');
    expect(parseTemporaryName(path.slice('/runs/'.length))).toEqual({
      name: '.my.model.00000000-1-1.00000001.replaced',
      ...{ target: 'my.model', kind: 'replaced' },
      owner: { machine: '00000000', pid: 1, started: 1 },
    });
    expect(temporaryPath(host, '/runs/my.model', 'replaced')).not.toBe(path);
    for (const name of ['x.a.00000000-1-1.00000001.partial', '.a.0000000-1-1.00000001.partial'])
      expect(parseTemporaryName(name)).toBeUndefined();
    expect(parseTemporaryName('.a.00000000-1-1.00000001.partial.gz')).toBeUndefined();
  });

  it('are found by their target', async () => {
    const host = disk().startProcess();
    for (const target of ['/a', '/b'])
      await writeNewFile(host.files, temporaryPath(host, target, 'partial'), '');
    await writeNewFile(host.files, '/c', '');
    const found = await temporaryNames(host.files, '/', (target) => target !== 'b');
    expect(found.map(({ target }) => target)).toEqual(['a']);
  });

  it('are abandoned once their process is gone, elsewhere a day after the last change', async () => {
    const world = disk();
    const first = world.startProcess();
    const own = parseTemporaryName(temporaryPath(first, '/a', 'partial').slice(1))!;
    expect(await isAbandoned(first, '/', own)).toBe(false);
    const second = world.startProcess();
    expect(await isAbandoned(second, '/', own)).toBe(true);
    const name = '.a.0000000f-1-1.00000001.partial';
    const foreign = parseTemporaryName(name)!;
    expect(await isAbandoned(second, '/', foreign)).toBe(false);
    await writeNewFile(second.files, `/${name}`, '');
    world.advance(day - 60_000);
    expect(await isAbandoned(second, '/', foreign)).toBe(false);
    world.advance(120_000);
    expect(await isAbandoned(second, '/', foreign)).toBe(true);
  });

  it('are renamed if they are there, and discarded without an error', async () => {
    const world = disk();
    const { files } = world.startProcess();
    await writeNewFile(files, '/a', 'text');
    expect(await renameIfThere(files, '/a', '/b')).toBe(true);
    expect(await renameIfThere(files, '/a', '/b')).toBe(false);
    await files.mkdir('/full');
    await writeNewFile(files, '/full/a', 'text');
    await files.mkdir('/other');
    await expect(renameIfThere(files, '/other', '/full')).rejects.toThrow('ENOTEMPTY');
    world.fault = { at: world.log.length, kind: 'io-error' };
    await discard(files, '/full');
    expect(world.paths()).toContain('/full/a');
    await discard(files, '/full');
    expect(world.paths()).toEqual(['/b', '/other']);
  });
});
