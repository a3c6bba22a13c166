import { RandomStream } from '@rlp/core';
import { expect, it } from 'vitest';
import { SimulatedDisk } from '../testing/index.ts';
import { removeTree, syncDirectory, writeFully, writeNewFile } from './file-system.ts';

async function tree() {
  const disk = new SimulatedDisk(RandomStream.named('trees'));
  const { files } = disk.startProcess();
  for (const path of ['/a', '/a/b']) await files.mkdir(path);
  for (const path of ['/a/x', '/a/b/y', '/z']) await writeNewFile(files, path, 'text');
  return { disk, files };
}

it('removeTree removes a file or a directory with its content, and nothing else', async () => {
  const { disk, files } = await tree();
  await removeTree(files, '/a');
  await removeTree(files, '/a');
  expect(disk.paths()).toEqual(['/z']);
  await removeTree(files, '/z');
  expect(disk.paths()).toEqual([]);
});

it('removeTree rejects if the disk fails, and passes if another process was faster', async () => {
  const { disk, files } = await tree();
  disk.fault = { at: disk.log.length + 1, kind: 'io-error' };
  await expect(removeTree(files, '/z')).rejects.toThrow('EIO');
  const twice = async (path: string) => {
    await files.unlink(path);
    await files.unlink(path);
  };
  await removeTree({ ...files, unlink: twice }, '/z');
  expect(disk.paths()).not.toContain('/z');
});

it('writeFully writes what is left, whatever a call takes', async () => {
  const calls: number[][] = [];
  const written: number[] = [];
  const write = async (bytes: Uint8Array, offset: number, length: number) => {
    calls.push([offset, length]);
    const bytesWritten = Math.min(3, length);
    written.push(...bytes.subarray(offset, offset + bytesWritten));
    return { bytesWritten };
  };
  await writeFully({ write } as Parameters<typeof writeFully>[0], Uint8Array.of(1, 2, 3, 4, 5, 6, 7));
  expect(calls).toEqual([
    [0, 7],
    [3, 4],
    [6, 1],
  ]);
  expect(written).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

it('syncDirectory passes where directories cannot be opened, and rejects if the disk fails', async () => {
  const { files } = await tree();
  const failing = (code: string) => ({
    ...files,
    open: () => Promise.reject(Object.assign(new Error(code), { code })),
  });
  for (const code of ['EISDIR', 'EPERM']) await syncDirectory(failing(code), '/a');
  await expect(syncDirectory(failing('EIO'), '/a')).rejects.toThrow('EIO');
});
