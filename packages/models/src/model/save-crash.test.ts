import type fsPromises from 'node:fs/promises';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeBuiltin, type Weights } from '@rlp/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseModelConfig } from '../config/parse-config.ts';
import { characterTokenizer } from '../tokenizer/built-tokenizers.ts';
import { loadTokenizer } from '../tokenizer/load-tokenizer.ts';
import { createModel } from './create-model.ts';
import { loadModel, loadModelConfig, loadWeights } from './load-model.ts';
import { saveModel } from './save-model.ts';

const files = nodeBuiltin<typeof fsPromises>('node:fs/promises');
const changing = ['rename', 'rm', 'unlink', 'rmdir', 'writeFile', 'mkdir'] as const;
const config = parseModelConfig({
  model_type: 'llama',
  vocab_size: 6,
  hidden_size: 8,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 16,
  eos_token_id: 0,
});
const modelOf = (seed: string) =>
  createModel({ config, seed, tokenizer: characterTokenizer('abcde', { end: '.' }) });
const textOf = (weights: Weights) => JSON.stringify([...weights].map(([, { data }]) => data[0]));

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rlp-save-crash-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(root, { recursive: true, force: true });
});

/** Lets so many changes of the file system through; from then on the process is as if killed. */
function killAfter(changes: number): void {
  let made = 0;
  for (const name of changing) {
    const original = files[name] as (...given: unknown[]) => Promise<unknown>;
    vi.spyOn(files, name).mockImplementation((async (...given: unknown[]) => {
      if (made >= changes) throw new Error('killed');
      made += 1;
      return original.apply(files, given);
    }) as never);
  }
}

const readers = {
  loadModel: async (folder: string) => textOf((await loadModel(folder)).weights),
  loadWeights: async (folder: string) => textOf((await loadWeights(folder, config)).weights),
  loadTokenizer: async (folder: string) => String((await loadTokenizer(folder)).tokenizer.vocabularySize),
  loadModelConfig: async (folder: string) => String((await loadModelConfig(folder)).vocabularySize),
};

it('a save over an earlier one that is killed at any change leaves one of the two to every reader', async ({
  signal,
}) => {
  const [one, two] = [modelOf('one'), modelOf('two')];
  const allowed = [textOf(one.weights), textOf(two.weights), '6'];
  let seen = new Set<string>();
  for (let changes = 0, done = false; !done; changes++) {
    for (const [name, read] of Object.entries(readers)) {
      const folder = join(root, `${changes}-${name}`);
      await saveModel(folder, one);
      // A test that ran out of time goes on, and must replace nothing that those after it use.
      signal.throwIfAborted();
      killAfter(changes);
      done = await saveModel(folder, two).then(
        () => true,
        () => false,
      );
      vi.restoreAllMocks();
      const found = await read(folder);
      expect(allowed).toContain(found);
      seen = seen.add(found);
      expect(await loadModel(folder)).toBeDefined();
    }
    expect(changes).toBeLessThan(60);
  }
  expect(seen).toEqual(new Set(allowed));
  expect((await readdir(root)).length).toBeGreaterThan(20);
});
