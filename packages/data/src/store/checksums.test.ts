import { ArgumentError, FormatError, RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { SimulatedDisk } from '../testing/index.ts';
import { sealDirectory, verifyDirectory } from './checksums.ts';
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
    await expect(sealDirectory(files, '/m')).rejects.toThrow('/m: another save is complete here already');
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

  it.each([
    ['not checksums', 'abc  a\n', /SHA256SUMS: expected lines of a SHA-256 and a file name, got "abc {2}a"/],
    ['a path outside', `${abc}  ../a\n`, /expected lines of a SHA-256/],
    ['a line cut short', `${abc}  a\n${abc}`, /SHA256SUMS: the last line is cut short; save again/],
  ])('refuses a list with %s', async (_, text, message) => {
    const files = await folder('a');
    await writeNewFile(files, '/m/SHA256SUMS', text);
    await expect(verifyDirectory('/m', {}, { files })).rejects.toThrow(message);
  });
});
