import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArgumentError, FormatError, RandomStream } from '@rlp/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumFile, recoverDirectory, verifyDirectory, writeDirectory } from '../store.ts';
import { SimulatedDisk } from '../testing/index.ts';
import { writeNewFile } from './file-system.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'rlp-directory-'));
});
afterEach(() => rm(parent, { recursive: true }));

const write = (path: string, text: string, name = 'a') =>
  writeDirectory(path, (temporary) => writeFile(join(temporary, name), text));

describe('writeDirectory', () => {
  it('replaces what was there and leaves nothing beside it', async () => {
    const path = join(parent, 'deep', 'checkpoint');
    for (const text of ['first', 'second']) await write(path, text);
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('second');
    expect(await readdir(join(parent, 'deep'))).toEqual(['checkpoint']);
  });

  it('takes the last of several that are written at once', async () => {
    const path = join(parent, 'checkpoint');
    await Promise.all(['0', '1', '2', '3', '4', '5'].map((text) => write(path, text)));
    expect(await readFile(join(path, 'a'), 'utf8')).toMatch(/^[0-5]$/);
    await verifyDirectory(path);
    expect(await readdir(parent)).toEqual(['checkpoint']);
  });

  it('keeps the old directory when writing fails', async () => {
    const path = join(parent, 'checkpoint');
    await write(path, 'first');
    const failing = writeDirectory(path, async (temporary) => {
      await writeFile(join(temporary, 'a'), 'half');
      throw new Error('disk full');
    });
    await expect(failing).rejects.toThrow('disk full');
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('first');
    expect(await readdir(parent)).toEqual(['checkpoint']);
  });

  it('touches nothing if the files are equal, and replaces an equal save that is damaged', async () => {
    const path = join(parent, 'checkpoint');
    await write(path, 'same');
    const { ino } = await stat(path);
    await write(path, 'same');
    expect((await stat(path)).ino).toBe(ino);
    await writeFile(join(path, 'a'), 'damaged');
    await write(path, 'same');
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('same');
  });

  it('fills an empty directory, and deletes nothing that it did not write', async () => {
    await write(parent, 'first');
    await expect(write(join(parent, 'a'), 'second')).rejects.toThrow(ArgumentError);
    await writeFile(join(parent, 'notes.txt'), 'mine');
    await expect(write(parent, 'second')).rejects.toThrow(
      /expected nothing or an earlier save, found other files \(notes\.txt\) that replacing would delete/,
    );
    expect(await readdir(parent)).toEqual([checksumFile, 'a', 'notes.txt']);
    for (const name of ['b', 'c', 'd']) await writeFile(join(parent, name), 'mine');
    await expect(write(parent, 'second')).rejects.toThrow(
      '(b, c, d, …) that replacing would delete; choose another path, or move them',
    );
    for (const name of ['b', 'c', 'd']) await rm(join(parent, name));
    const foreign = join(parent, 'model');
    await mkdir(foreign);
    await writeFile(join(foreign, 'config.json'), '{}');
    await expect(write(foreign, '{}', 'config.json')).rejects.toThrow('other files (config.json)');
  });

  it('refuses to complete what another save completed', async () => {
    const path = join(parent, 'checkpoint');
    const nested = writeDirectory(path, (temporary) => write(temporary, 'first'));
    await expect(nested).rejects.toThrow('another save is complete here already');
  });

  it('names the true cause if nothing can be written', async () => {
    const path = join(parent, 'file', 'checkpoint');
    await writeFile(join(parent, 'file'), '');
    await expect(write(path, 'first')).rejects.toThrow('ENOTDIR');
  });
});

describe('checksums', () => {
  it('name a file that changed or is missing, in directories inside too', async () => {
    const path = join(parent, 'checkpoint');
    await writeDirectory(path, async (temporary) => {
      await write(join(temporary, 'inner'), 'text');
      await writeFile(join(temporary, 'outer'), 'text');
    });
    expect(
      (await readFile(join(path, checksumFile), 'utf8')).split('\n').map((line) => line.slice(66)),
    ).toEqual(['inner/SHA256SUMS', 'inner/a', 'outer', '']);
    await verifyDirectory(path);
    await writeFile(join(path, 'inner', 'a'), 'tex7');
    await verifyDirectory(path, { inside: 'skip' });
    const changed = verifyDirectory(path);
    await expect(changed).rejects.toThrow(FormatError);
    await expect(changed).rejects.toThrow(`${join(path, 'inner', 'a')}: the file differs from its SHA-256`);
    await rm(join(path, 'outer'));
    await expect(verifyDirectory(path, { inside: 'skip' })).rejects.toThrow(
      `${join(path, 'outer')}: the file is missing, and SHA256SUMS lists it`,
    );
  });

  it.each([
    ['a line that is none', 'hello\n', /expected lines of a SHA-256 and a file name, got "hello"/],
    ['a path outside', `${'0'.repeat(64)}  ../secret\n`, /expected lines/],
    ['half a line', `${'0'.repeat(64)}  a`, /cut short/],
  ])('are refused with %s', async (_, text, message) => {
    await writeFile(join(parent, checksumFile), text);
    await expect(verifyDirectory(parent)).rejects.toThrow(message);
  });

  it('are not needed in directories of other tools', async () => {
    await writeFile(join(parent, 'config.json'), '{}');
    await verifyDirectory(parent);
  });
});

describe('recoverDirectory', () => {
  const disk = () => new SimulatedDisk(RandomStream.named('0', 'disk'));
  const fill = (host: ReturnType<SimulatedDisk['startProcess']>, text: string) =>
    writeDirectory('/m/a', (temporary) => writeNewFile(host.files, `${temporary}/a`, text), host);

  it('puts the new save in place after a crash between the two renames', async () => {
    const simulated = disk();
    const first = simulated.startProcess();
    await fill(first, 'first');
    const second = simulated.startProcess();
    const start = simulated.log.length;
    const rehearsal = fill(second, 'second');
    await rehearsal;
    const renames = simulated.log
      .map((line, at) => ({ line, at }))
      .filter(({ line }) => line.startsWith('rename'));
    const between = renames.at(-1)!.at - start;

    const crashed = disk();
    await fill(crashed.startProcess(), 'first');
    const dying = crashed.startProcess();
    crashed.fault = { at: crashed.log.length + between, kind: 'kill-before' };
    await expect(fill(dying, 'second')).rejects.toThrow('killed');
    expect(crashed.paths()).not.toContain('/m/a');
    const next = crashed.startProcess();
    await recoverDirectory('/m/a', next);
    expect(new TextDecoder().decode(crashed.bytesOf('/m/a/a'))).toBe('second');
    expect(crashed.paths()).toEqual(['/m', '/m/a', '/m/a/SHA256SUMS', '/m/a/a']);
  });

  it('passes where nothing can be changed, and rejects if the disk fails', async () => {
    const host = disk().startProcess();
    const failing = (code: string) => {
      const readdir = () => Promise.reject(Object.assign(new Error(code), { code }));
      return { ...host, files: { ...host.files, readdir } };
    };
    for (const code of ['EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR'])
      await recoverDirectory('/m/a', failing(code));
    await expect(recoverDirectory('/m/a', failing('EIO'))).rejects.toThrow('EIO');
  });

  it('puts an earlier save back, and removes what is damaged or in the way', async () => {
    const simulated = disk();
    const first = simulated.startProcess();
    await fill(first, 'first');
    const aside = (text: string) => `/m/.a.00000000-1-1.0000000${text}`;
    await first.files.rename('/m/a', aside('1.replaced'));
    await first.files.mkdir(aside('2.partial'));
    await writeNewFile(first.files, `${aside('2.partial')}/a`, 'torn');
    await first.files.mkdir(aside('3.removed'));
    await recoverDirectory('/m/a', simulated.startProcess());
    expect(new TextDecoder().decode(simulated.bytesOf('/m/a/a'))).toBe('first');
    expect(simulated.paths().filter((path) => /^\/m\/[^/]*$/.test(path))).toEqual([
      aside('3.removed'),
      '/m/a',
    ]);
  });

  it('leaves the files of a process that still runs alone', async () => {
    const simulated = disk();
    const writer = simulated.startProcess();
    let seen: string[] = [];
    await writeDirectory(
      '/m/a',
      async (temporary) => {
        await writeNewFile(writer.files, `${temporary}/a`, 'text');
        await recoverDirectory('/m/a', simulated.startSecondProcess());
        seen = simulated.paths();
      },
      writer,
    );
    expect(seen.filter((path) => path.endsWith('.partial/a'))).toHaveLength(1);
    expect(simulated.paths()).toContain('/m/a/a');
  });
});
