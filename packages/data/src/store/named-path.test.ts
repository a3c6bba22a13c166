import { describe, expect, it } from 'vitest';
import { AppendFile } from '../files/append-file.ts';
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
