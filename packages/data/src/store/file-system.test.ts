import { RandomStream } from '@rlp/core';
import { expect, it } from 'vitest';
import { SimulatedDisk } from '../testing/index.ts';
import {
  type FileSystem,
  hasCode,
  makeDirectories,
  namesIn,
  piecesOf,
  readText,
  removeTree,
  statusOf,
  syncDirectory,
  writeFully,
  writeNewFile,
} from './file-system.ts';

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

it('syncDirectory passes where nothing can be flushed, and closes what it opened', async () => {
  let closed = 0;
  const failing = (code: string) =>
    ({
      open: async () => ({
        sync: () => Promise.reject(Object.assign(new Error(code), { code })),
        close: async () => {
          closed += 1;
        },
      }),
    }) as unknown as FileSystem;
  for (const code of ['EINVAL', 'ENOTSUP', 'EPERM']) await syncDirectory(failing(code), '/a');
  await expect(syncDirectory(failing('EIO'), '/a')).rejects.toThrow('EIO');
  expect(closed).toBe(4);
});

it('makeDirectories creates what is missing from the top, and flushes each new entry', async () => {
  const { disk, files } = await tree();
  const start = disk.log.length;
  await makeDirectories(files, '/a/new/deep');
  expect(disk.log.slice(start).filter((line) => /^(mkdir|sync)/.test(line))).toEqual([
    ...['mkdir /a/new', 'sync /a', 'mkdir /a/new/deep', 'sync /a/new'],
  ]);
  const again = disk.log.length;
  await makeDirectories(files, '/a/new/deep');
  expect(disk.log.slice(again)).toEqual(['lstat /a/new/deep']);
});

it('makeDirectories passes if another process was faster, and rejects if the disk fails', async () => {
  const { disk, files } = await tree();
  const mkdir = async (path: string) => {
    await files.mkdir(path);
    await files.mkdir(path);
  };
  await makeDirectories({ ...files, mkdir }, '/new');
  expect(disk.paths()).toContain('/new');
  disk.fault = { at: disk.log.length + 2, kind: 'disk-full' };
  await expect(makeDirectories(files, '/other')).rejects.toThrow('ENOSPC');
});

it('what is not there has no names, no status and no text; what cannot be read is an error', async () => {
  const { disk, files } = await tree();
  expect([
    await namesIn(files, '/none'),
    await statusOf(files, '/none'),
    await readText(files, '/none'),
  ]).toEqual([...[[], undefined, undefined]]);
  expect(await namesIn(files, '/a')).toEqual(['b', 'x']);
  expect(await readText(files, '/z')).toBe('text');
  for (const read of [namesIn, statusOf, readText]) {
    disk.fault = { at: disk.log.length, kind: 'io-error' };
    await expect(read(files, '/z')).rejects.toThrow('EIO');
  }
});

it('names come sorted, whatever the disk says', async () => {
  const { files } = await tree();
  expect(await namesIn({ ...files, readdir: async () => ['c', 'a', 'b'] }, '/')).toEqual(['a', 'b', 'c']);
});

it('readText reads characters across pieces, and closes the file', async () => {
  const { disk, files } = await tree();
  const text = `${'x'.repeat(4095)}☃${'y'.repeat(10)}é`;
  await writeNewFile(files, '/long', text);
  expect(await readText(files, '/long')).toBe(text);
  expect(disk.log.at(-1)).toBe('close /long');
  await writeNewFile(files, '/torn', new TextEncoder().encode('a☃').subarray(0, 2));
  expect(await readText(files, '/torn')).toBe('a\ufffd');
});

it('piecesOf reads a small piece, and large ones once a file has more', async () => {
  const sizes: number[] = [];
  let left = 4096 + 2 * 2 ** 20 + 5;
  const read = async (_: Uint8Array, offset: number, length: number) => {
    expect(offset).toBe(0);
    sizes.push(length);
    const bytesRead = Math.min(length, left);
    left -= bytesRead;
    return { bytesRead };
  };
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOf({ read } as never)) pieces.push(piece);
  expect(pieces.map(({ length }) => length)).toEqual([4096, 2 ** 20, 2 ** 20, 5]);
  expect(sizes).toEqual([4096, 2 ** 20, 2 ** 20, 2 ** 20, 2 ** 20]);
  // One large buffer serves all.
  expect(pieces[1]!.buffer).toBe(pieces[2]!.buffer);
});

it('hasCode looks at errors of the system alone', () => {
  const error = Object.assign(new Error('no'), { code: 'ENOENT' });
  expect([hasCode(error, 'EPERM', 'ENOENT'), hasCode(error, 'EPERM'), hasCode(error)]).toEqual([
    true,
    false,
    false,
  ]);
  expect([hasCode(new Error('no'), 'undefined'), hasCode({ code: 'ENOENT' }, 'ENOENT')]).toEqual([
    false,
    false,
  ]);
});
