import { ArgumentError, FormatError, RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { gathered } from '../datasets/gathered.fixture.ts';
import { SimulatedDisk } from '../testing/index.ts';
import { damagedFiles, isIntact, readChecksums, sealDirectory, verifyDirectory } from './checksums.ts';
import { readText, writeNewFile } from './file-system.ts';

/** SHA-256 of `abc`, from FIPS 180-4. */
const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const nothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

async function folder(...paths: readonly string[]) {
  const { files } = new SimulatedDisk(RandomStream.named('checksums')).startProcess();
  await files.mkdir('/m');
  await files.mkdir('/m/inner');
  for (const path of paths) await writeNewFile(files, `/m/${path}`, path.endsWith('empty') ? '' : 'abc');
  return files;
}

describe('sealDirectory', () => {
  it('writes the checksums of all files as sha256sum does, sorted by path', async () => {
    const files = await folder('z', 'inner/empty', 'a');
    const text = `${abc}  a\n${nothing}  inner/empty\n${abc}  z\n`;
    expect(await sealDirectory(files, '/m')).toBe(text);
    expect(await readText(files, '/m/SHA256SUMS')).toBe(text);
  });

  it('flushes every file and directory before the list, and the list at last', async () => {
    const disk = new SimulatedDisk(RandomStream.named('checksums'));
    const { files } = disk.startProcess();
    for (const path of ['/m', '/m/inner', '/m/inner/deep']) await files.mkdir(path);
    for (const path of ['/m/a', '/m/inner/deep/b']) await writeNewFile(files, path, 'abc');
    const start = disk.log.length;
    expect(await sealDirectory(files, '/m')).toBe(`${abc}  a\n${abc}  inner/deep/b\n`);
    expect(disk.log.slice(start).filter((line) => /^(sync|open wx)/.test(line))).toEqual([
      ...['sync /m/a', 'sync /m/inner/deep/b', 'sync /m/inner/deep', 'sync /m/inner'],
      ...['open wx /m/SHA256SUMS', 'sync /m/SHA256SUMS', 'sync /m'],
    ]);
  });

  it('copies the checksums of directories that are complete in themselves', async () => {
    const files = await folder('a', 'inner/b');
    await sealDirectory(files, '/m/inner');
    const text = await sealDirectory(files, '/m');
    expect(text).toContain(`${abc}  inner/b\n`);
    expect(text).toMatch(/^[0-9a-f]{64} {2}inner\/SHA256SUMS$/m);
  });

  it('refuses a directory that is complete, and names with line breaks', async () => {
    const files = await folder('a');
    await sealDirectory(files, '/m');
    await expect(sealDirectory(files, '/m')).rejects.toThrow(
      '/m: another save is complete here already; let each save have a directory of its own',
    );
    for (const name of ['a\nb', 'a\rb']) {
      const sealed = sealDirectory(await folder(name), '/m');
      await expect(sealed).rejects.toThrow(ArgumentError);
      await expect(sealed).rejects.toThrow(
        `/m: a file name has a line break; rename ${JSON.stringify(name)}`,
      );
    }
  });
});

describe('verifyDirectory', () => {
  it('passes what is whole or was never sealed, and names what differs or is missing', async () => {
    const files = await folder('a', 'inner/b');
    await verifyDirectory('/m', {}, { files });
    await sealDirectory(files, '/m/inner');
    await sealDirectory(files, '/m');
    await verifyDirectory('/m', {}, { files });
    await files.unlink('/m/inner/b');
    await expect(verifyDirectory('/m', {}, { files })).rejects.toThrow(/inner\/b/);
    await verifyDirectory('/m', { inside: 'skip' }, { files });
    await verifyDirectory('/m', { only: /^a$/ }, { files });
    await files.unlink('/m/a');
    await writeNewFile(files, '/m/a', 'abd');
    await expect(verifyDirectory('/m', { inside: 'skip' }, { files })).rejects.toThrow(FormatError);
    await expect(verifyDirectory('/m', { only: /^a$/ }, { files })).rejects.toThrow(/\/m\/a\b/);
  });

  it('says in a sentence what is missing and what differs', async () => {
    const files = await folder('a', 'b', 'c');
    await sealDirectory(files, '/m');
    for (const name of ['a', 'c']) await files.unlink(`/m/${name}`);
    await writeNewFile(files, '/m/c', 'other');
    expect(await gathered(damagedFiles(files, '/m'))).toEqual([
      '/m/a: the file is missing, and SHA256SUMS lists it; save again, or delete /m',
      '/m/c: the file differs from its SHA-256 in SHA256SUMS, so it is damaged or was edited; ' +
        'save again, or delete SHA256SUMS if you edited the file',
    ]);
  });

  it('leaves out the files of inner lists, but not those lists themselves', async () => {
    const files = await folder('a', 'inner/b', 'innerc');
    await sealDirectory(files, '/m/inner');
    await sealDirectory(files, '/m');
    for (const name of ['inner/b', 'inner/SHA256SUMS', 'innerc']) await files.unlink(`/m/${name}`);
    const named = (await gathered(damagedFiles(files, '/m', { inside: 'skip' }))).map(
      (line) => line.split(':')[0],
    );
    expect(named).toEqual(['/m/inner/SHA256SUMS', '/m/innerc']);
    expect(await gathered(damagedFiles(files, '/m', { inside: 'check' }))).toHaveLength(3);
  });

  it('reads what sha256sum writes of binary files, and names with dots', async () => {
    const files = await folder('a', 'b..c');
    await writeNewFile(files, '/m/SHA256SUMS', `${abc} *a\n${abc}  b..c\n`);
    expect(await readChecksums(files, '/m')).toEqual(
      new Map([
        ['a', abc],
        ['b..c', abc],
      ]),
    );
    await verifyDirectory('/m', {}, { files });
  });

  it('passes an empty list', async () => {
    const files = await folder('a');
    await writeNewFile(files, '/m/SHA256SUMS', '');
    expect(await readChecksums(files, '/m')).toEqual(new Map());
    expect(await isIntact(files, '/m')).toBe(true);
  });

  it('a directory is intact with a list that its files fit, and broken disks are errors', async () => {
    const disk = new SimulatedDisk(RandomStream.named('checksums'));
    const { files } = disk.startProcess();
    await files.mkdir('/m');
    await writeNewFile(files, '/m/a', 'abc');
    expect(await isIntact(files, '/m')).toBe(false);
    await sealDirectory(files, '/m');
    expect(await isIntact(files, '/m')).toBe(true);
    disk.bytesOf('/m/a')[0]! ^= 1;
    expect(await isIntact(files, '/m')).toBe(false);
    disk.fault = { at: disk.log.length + 5, kind: 'io-error' };
    await expect(isIntact(files, '/m')).rejects.toThrow('EIO');
  });

  it.each([
    ['not checksums', 'abc  a\n', /SHA256SUMS: expected lines of a SHA-256 and a file name, got "abc {2}a"/],
    ['a path outside', `${abc}  ../a\n`, /expected lines of a SHA-256/],
    ['a path that leads outside', `${abc}  b/../../a\n`, /expected lines of a SHA-256/],
    ['a sum that is too short', `${abc.slice(1)}  a\n`, /expected lines of a SHA-256/],
    ['a sum that is too long', `0${abc}  a\n`, /expected lines of a SHA-256/],
    ['an empty line', `${abc}  a\n\n`, /got ""; save again$/],
    ['no name', `${abc}  \n`, /expected lines of a SHA-256/],
    ['a line cut short', `${abc}  a\n${abc}`, /SHA256SUMS: the last line is cut short; save again/],
  ])('refuses a list with %s', async (_, text, message) => {
    const files = await folder('a');
    await writeNewFile(files, '/m/SHA256SUMS', text);
    await expect(verifyDirectory('/m', {}, { files })).rejects.toThrow(message);
  });
});
