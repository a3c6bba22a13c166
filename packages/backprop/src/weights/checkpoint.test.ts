import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArgumentError, FormatError } from '@rlp/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { readState, writeDirectory, writeState } from './checkpoint.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'rlp-checkpoint-'));
});

describe('writeDirectory', () => {
  it('replaces what was there and leaves nothing beside it', async () => {
    const path = join(parent, 'deep', 'checkpoint');
    for (const text of ['first', 'second']) {
      await writeDirectory(path, 'a', (temporary) => writeFile(join(temporary, 'a'), text));
    }
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('second');
    expect(await readdir(join(parent, 'deep'))).toEqual(['checkpoint']);
  });

  it('takes the last of several that are written at once', async () => {
    const path = join(parent, 'checkpoint');
    const write = (text: string) =>
      writeDirectory(path, 'a', (temporary) => writeFile(join(temporary, 'a'), text));
    await Promise.all(['0', '1', '2', '3', '4', '5'].map(write));
    expect(await readFile(join(path, 'a'), 'utf8')).toMatch(/^[0-5]$/);
    expect(await readdir(parent)).toEqual(['checkpoint']);
  });

  it('keeps the old directory when writing fails', async () => {
    const path = join(parent, 'checkpoint');
    await writeDirectory(path, 'a', (temporary) => writeFile(join(temporary, 'a'), 'first'));
    const failing = writeDirectory(path, 'a', async (temporary) => {
      await writeFile(join(temporary, 'a'), 'half');
      throw new Error('disk full');
    });
    await expect(failing).rejects.toThrow('disk full');
    expect(await readFile(join(path, 'a'), 'utf8')).toBe('first');
    expect(await readdir(parent)).toEqual(['checkpoint']);
  });

  it('fills an empty directory, and deletes nothing that it did not write', async () => {
    await writeDirectory(parent, 'a', (temporary) => writeFile(join(temporary, 'a'), 'first'));
    for (const path of [parent, join(parent, 'a')]) {
      const saving = writeDirectory(path, 'b', (temporary) => writeFile(join(temporary, 'b'), 'second'));
      await expect(saving).rejects.toThrow(ArgumentError);
    }
    expect(await readdir(parent)).toEqual(['a']);
  });
});

describe('readState', () => {
  const state = {
    format: 1,
    weightVersion: 3,
    updates: 7,
    adaptation: 'full',
    reference: 'absent',
    valueHead: 'absent',
  } as const;

  it('reads what writeState wrote', async () => {
    await writeState(parent, state);
    expect(await readState(parent)).toEqual(state);
  });

  it('takes a checkpoint that does not speak of value heads for one without', async () => {
    const { valueHead: _, ...older } = state;
    await writeFile(join(parent, 'state.json'), JSON.stringify(older));
    expect(await readState(parent)).toEqual(state);
  });

  it.each([
    ['nothing', undefined, /cannot be read; give the directory/],
    ['broken JSON', '{', /not valid JSON/],
    ['another format', JSON.stringify({ ...state, format: 2 }), /format: /],
    ['a wrong field', JSON.stringify({ ...state, updates: -1 }), /updates: .*save the checkpoint again/],
  ])('names the file and a remedy for %s', async (_, text, message) => {
    if (text !== undefined) await writeFile(join(parent, 'state.json'), text);
    const reading = readState(parent);
    await expect(reading).rejects.toThrow(FormatError);
    await expect(reading).rejects.toThrow(message);
  });
});
