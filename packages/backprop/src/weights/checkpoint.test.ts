import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormatError } from '@rlp/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { readState, writeState } from './checkpoint.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'rlp-checkpoint-'));
});

describe('readState', () => {
  const state = {
    format: 1,
    weightVersion: 3,
    updates: 7,
    adaptation: 'full',
    reference: 'absent',
    valueHead: 'absent',
    optimizer: 'adamw',
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
