import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AppendFile } from '../files/append-file.ts';
import { nodeHost } from './host.ts';
import { holdDirectory } from './lease.ts';
import { namedPath } from './named-path.ts';
import { writeDirectory } from './write-directory.ts';
import { writeTextFile } from './write-files.ts';

const fullDisk = () =>
  Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });

describe.runIf(process.platform === 'linux')('a full disk', () => {
  it('is told of with the path of the file', () => {
    const write = () => {
      throw fullDisk();
    };
    const file = new AppendFile({ path: '/dev/null', write });
    expect(() => file.append('row\n')).toThrow(
      expect.objectContaining({ path: '/dev/null', message: expect.stringMatching(/write '\/dev\/null'$/) }),
    );
  });

  it('names files whose disk is full in fact', async () => {
    const file = new AppendFile({ path: '/dev/full' });
    expect(() => file.append('row\n')).toThrow(
      expect.objectContaining({ code: 'ENOSPC', path: '/dev/full' }),
    );
  });

  it('is told of with the directory that was to be written', async () => {
    const path = `${import.meta.dirname}/never-written`;
    const write = () => Promise.reject(fullDisk());
    await expect(writeDirectory(path, write)).rejects.toMatchObject({ code: 'ENOSPC', path });
  });

  it('is told of with the names that files will have, and by a lease with its directory', async () => {
    const nested = `${import.meta.dirname}/a/.b.00112233-1-2.44556677.partial/.c.00112233-1-2.44556677.replaced/d`;
    const cause = Object.assign(new Error(`ENOSPC: no space left on device, open '${nested}'`), {
      ...{ code: 'ENOSPC', syscall: 'open', path: nested },
    });
    const path = `${import.meta.dirname}/a/b/c/d`;
    expect(namedPath(cause, '/other')).toMatchObject({
      path,
      message: expect.stringMatching(`open '${path}'$`),
    });
    await expect(writeDirectory('/proc/x', () => Promise.resolve())).rejects.toMatchObject({
      ...{ path: '/proc/x', syscall: 'mkdir' },
      message: expect.stringMatching(/mkdir '\/proc\/x'$/),
    });
    const host = nodeHost();
    const open = async (file: string, flags: 'r' | 'r+' | 'wx') =>
      flags === 'wx' ? Promise.reject(fullDisk()) : host.files.open(file, flags);
    const directory = await mkdtemp(join(tmpdir(), 'rlp-full-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const full = { ...host, files: { ...host.files, open } };
    await expect(holdDirectory(directory, full)).rejects.toMatchObject({ code: 'ENOSPC', path: directory });
  });

  it('keeps a path that the system gave', async () => {
    const cause = Object.assign(fullDisk(), { path: '/given' });
    expect(namedPath(cause, '/other')).toMatchObject({ path: '/given', message: fullDisk().message });
    await expect(writeTextFile('/proc/none/file', 'text')).rejects.toMatchObject({
      path: expect.stringContaining('/proc'),
    });
  });

  it('leaves other errors alone', () => {
    const error = new Error('no gradient');
    expect(namedPath(error, '/a')).toBe(error);
    expect(error).not.toHaveProperty('path');
  });
});
