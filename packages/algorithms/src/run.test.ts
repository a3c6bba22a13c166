import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormatError } from '@rlp/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineSetup, sums } from './loop/engine.fixture.ts';
import { loadRun, saveRun } from './run.ts';
import { runSftTraining } from './supervised/sft.ts';

let setup: Awaited<ReturnType<typeof engineSetup>>;
let directory: string;

beforeAll(async () => {
  setup = await engineSetup();
  directory = await mkdtemp(join(tmpdir(), 'rlp-run-'));
});
afterAll(async () => {
  await setup.close();
  await rm(directory, { recursive: true });
});

/** Names in a directory without those that begin with a dot. */
const namesIn = async (path: string) => (await readdir(path)).filter((name) => !name.startsWith('.'));

/** Two updates, a checkpoint after each. */
async function train(into: string): Promise<void> {
  const { backend } = setup;
  for await (const { state } of runSftTraining({ backend, sequences: sums }, { updates: 2 })) {
    await saveRun(into, backend, { kind: 'sft', state });
  }
}

describe('a checkpoint that cannot be written', () => {
  it('leaves nothing behind, and the one before in place', async () => {
    const into = join(directory, 'full');
    await train(into);
    const { backend } = setup;
    const full = {
      ...backend,
      saveCheckpoint: async (path: string) => {
        await backend.saveCheckpoint(path);
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      },
    } as unknown as typeof backend;
    await expect(saveRun(into, full, { kind: 'sft', state: { iteration: 3 } })).rejects.toThrow('ENOSPC');
    expect(await namesIn(into)).toEqual(['checkpoint-00000001', 'checkpoint-00000002', 'latest']);
    expect(await loadRun(into, backend, 'sft')).toEqual({ iteration: 2 });
  });

  it('because its directory is a file says so', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    const save = saveRun(file, setup.backend, { kind: 'sft', state: { iteration: 1 } });
    await expect(save).rejects.toThrow('ENOTDIR');
  });
});

it('a run does not save beside what one that went farther has left', async () => {
  const into = join(directory, 'used');
  await train(into);
  const save = saveRun(into, setup.backend, { kind: 'sft', state: { iteration: 1 } });
  await expect(save).rejects.toThrow(
    /used holds checkpoint-00000002 of a run that went farther than iteration 1/,
  );
  expect(await namesIn(into)).toEqual(['checkpoint-00000001', 'checkpoint-00000002', 'latest']);
});

it('what else fails while it is loaded is thrown as it is', async () => {
  const into = join(directory, 'unloadable');
  await train(into);
  const fault = new Error('the device is gone');
  const backend = {
    saveCheckpoint: () => Promise.reject(fault),
    loadCheckpoint: () => Promise.reject(fault),
  };
  await expect(loadRun(into, backend as never, 'sft')).rejects.toBe(fault);
});

it('names what saving and loading lack', async () => {
  await expect(loadRun(undefined as never, {} as never, 'rlx' as never)).rejects.toThrow(
    /directory: expected text, got nothing[\s\S]*backend: must be a backend with checkpoints[\s\S]*kind: expected one of/,
  );
  await expect(saveRun('x', {} as never, {} as never)).rejects.toThrow(
    'backend: must be a backend with checkpoints',
  );
});

it('a position that is none is refused before anything is written', async () => {
  const into = join(directory, 'nowhere');
  const position = { kind: 'sft', state: { iteration: -1 } } as const;
  await expect(saveRun(into, setup.backend, position)).rejects.toThrow(/saveRun: .*\n.*state\.iteration/);
  await expect(readdir(into)).rejects.toThrow('ENOENT');
});

describe('a damaged checkpoint', () => {
  const half = async (path: string) => truncate(path, Math.floor((await stat(path)).size / 2));
  const flip = async (path: string) => {
    const bytes = await readFile(path);
    bytes[bytes.length - 9]! ^= 1;
    await writeFile(path, bytes);
  };
  it.each([
    ['run.json', (path: string) => writeFile(path, '{"format":"rlp-run-1"}')],
    ['run.json', half],
    ['backend/state.json', half],
    ['backend/model.safetensors', half],
    ['backend/optimizer.safetensors', (path: string) => writeFile(path, 'no tensors')],
    ['backend/reference.safetensors', (path: string) => rm(path)],
    ['backend/optimizer.safetensors', flip],
    ['backend/config.json', flip],
    ['backend/tokenizer.json', (path: string) => rm(path)],
  ] as const)('is refused by its %s, changes nothing, and can be deleted', async (name, damage) => {
    const into = await mkdtemp(join(directory, 'damaged-'));
    await train(into);
    const newest = join(into, 'checkpoint-00000002');
    await damage(join(newest, name));
    const before = await setup.backend.getWeights();
    const error = await loadRun(into, setup.backend, 'sft').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FormatError);
    expect((error as Error).message).toContain(join(newest, name));
    expect((error as Error).message).toMatch(/delete .* to fall back on the checkpoint before/s);
    expect(await setup.backend.getWeights()).toEqual(before);
    await rm(newest, { recursive: true });
    expect(await loadRun(into, setup.backend, 'sft')).toEqual({ iteration: 1 });
  });
});
