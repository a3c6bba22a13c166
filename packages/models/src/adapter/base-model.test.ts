import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkBaseModel } from './base-model.ts';

let root: string;
const at = (...parts: string[]) => join(root, ...parts);

async function model(folder: string, bytes: Buffer, name = 'model.safetensors') {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), bytes);
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rlp-base-'));
  const weights = Buffer.alloc(300_000, 7);
  const trained = Buffer.from(weights);
  trained[299_999] = 8;
  await model(at('base'), weights);
  await cp(at('base'), at('elsewhere', 'base'), { recursive: true });
  await cp(at('base'), at('copy'), { recursive: true });
  await symlink(at('base'), at('link'));
  await model(at('trained'), trained);
  await model(at('shards'), weights, 'model-00001-of-00001.safetensors');
  await model(at('half'), weights.subarray(0, 150_000));
});
afterAll(() => rm(root, { recursive: true }));

describe('checkBaseModel', () => {
  it.each([
    ['base', 'base', 'fine'],
    ['link', 'base', 'fine'],
    ['elsewhere/base', 'base', 'fine'],
    ['copy', 'base', 'warning'],
    ['shards', 'base', 'warning'],
    ['half', 'base', 'warning'],
    ['trained', 'base', 'error'],
    ['missing', 'base', 'warning'],
  ])('of %s for %s: %s', async (base, folder, expected) => {
    const warnings: string[] = [];
    const outcome = await checkBaseModel(at(base), at(folder), (sentence) => warnings.push(sentence)).then(
      () => (warnings.length > 0 ? 'warning' : 'fine'),
      (error: Error) => {
        expect(error.message).toMatch(
          /corrects ".*trained", but the model is ".*base", whose weights differ; load/,
        );
        return 'error';
      },
    );
    expect(outcome).toBe(expected);
  });

  it('takes the name of a hub for a folder of that name', async () => {
    const warnings: string[] = [];
    const warn = (sentence: string) => void warnings.push(sentence);
    await checkBaseModel('Someone/Base', at('base'), warn);
    await checkBaseModel(undefined, at('base'), warn);
    await checkBaseModel('Someone/Base', undefined, warn);
    expect(warnings).toEqual([]);
    await checkBaseModel('Someone/Other-1B', at('base'), warn);
    expect(warnings).toEqual([
      expect.stringMatching(/^the adapter corrects "Someone\/Other-1B", but .*; if these are/),
    ]);
  });
});
