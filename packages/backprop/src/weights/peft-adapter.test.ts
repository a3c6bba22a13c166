import { readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadModel, readLoraAdapter, writeLoraAdapter } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { inlineBackends, temporaryCheckpoint } from '../testing/inline-backends.ts';
import { negativeLogLikelihood } from '../testing/tiny-model.ts';

const pathOf = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const fixtures = pathOf('packages/backprop/fixtures/testdata/peft');
const folderOf = (name: string) => join(fixtures, name);
type Variant = 'plain' | 'rslora' | 'dora' | 'modules';
type Logprobs = readonly (readonly number[])[];

/** What PEFT computed: `fixtures/peft_adapters.py`. */
const golden = JSON.parse(readFileSync(join(fixtures, 'golden.json'), 'utf8')) as {
  readonly rows: readonly (readonly number[])[];
} & Readonly<Record<'base' | Variant, Logprobs>> &
  Readonly<Record<`${Variant} trained`, readonly Logprobs[]>>;

const basePath = pathOf('examples/models/stories260k');
const model = await loadModel(basePath);
const { create } = inlineBackends();

const options = {
  plain: { rank: 2, alpha: 6, targets: ['q_proj', 'v_proj'] },
  rslora: { rank: 3, alpha: 4, scaling: 'root-rank' as const },
  dora: { rank: 2, alpha: 6, variant: 'dora' as const, targets: ['q_proj', 'down_proj'] },
  modules: {
    ...{ rank: 2, alpha: 6, targets: ['q_proj', 'v_proj'] },
    modulesToSave: ['embed_tokens', 'norm', 'o_proj'],
  },
};

type Backend = Awaited<ReturnType<typeof create>>['backend'];

/** Largest difference from PEFT's logprobs. */
async function distance(backend: Backend, expected: 'base' | Variant | Logprobs, policy?: 'reference') {
  const scores = await backend.logprobs(golden.rows, policy && { policy });
  const differences = (typeof expected === 'string' ? golden[expected] : expected).flatMap((row, b) =>
    row.map((value, t) => Math.abs(value - scores[b]!.logprobs[t + 1]!)),
  );
  return Math.max(...differences);
}

const sequences = golden.rows.map((tokens) => ({
  tokens,
  mask: tokens.map((_, t) => Math.min(t, 1)),
  weights: tokens.map(() => 0.1),
  columns: {},
}));

async function trainOnce(backend: Backend) {
  await backend.forwardBackward({ sequences }, negativeLogLikelihood);
  await backend.optimStep();
}

describe.each(['plain', 'rslora', 'dora', 'modules'] as const)("PEFT's adapter %s", (name) => {
  it('trains as it does in PEFT', async () => {
    const lora = { adapter: folderOf(name), dropout: 0 };
    const { backend } = await create({ model, lora, learningRate: 0.01, maxGradientNorm: 'off' });
    for (const expected of golden[`${name} trained`]) {
      await trainOnce(backend);
      expect(await distance(backend, expected)).toBeLessThan(2e-4);
    }
    await backend.close();
  });

  it('is published as what is trained', async () => {
    const { backend } = await create({ model, lora: { adapter: folderOf(name) } });
    await trainOnce(backend);
    const scores = await backend.logprobs(golden.rows);
    const merged = await create({ model: { ...model, weights: await backend.getWeights() } });
    const same = await merged.backend.logprobs(golden.rows);
    for (const [row, { logprobs }] of scores.entries()) {
      for (const [t, value] of logprobs.entries()) expect(same[row]!.logprobs[t]).toBeCloseTo(value, 4);
    }
    await Promise.all([backend.close(), merged.backend.close()]);
  });

  it('is what a backend starts from', async () => {
    const { backend } = await create({ model, lora: { adapter: folderOf(name) } });
    expect(await distance(backend, name)).toBeLessThan(2e-5);
    await trainOnce(backend);
    expect(await distance(backend, name)).toBeGreaterThan(1e-4);
    expect(await distance(backend, name, 'reference')).toBeLessThan(2e-5);
    await backend.close();
  });

  it('is loaded as a checkpoint, and what is saved continues bit for bit', async () => {
    const { backend } = await create({ model, lora: options[name] });
    expect(await distance(backend, 'base')).toBeLessThan(2e-5);
    await backend.loadCheckpoint(folderOf(name));
    expect(await distance(backend, name)).toBeLessThan(2e-5);
    await trainOnce(backend);
    const directory = await temporaryCheckpoint();
    await backend.saveCheckpoint(directory);
    const config = JSON.parse(await readFile(join(directory, 'adapter_config.json'), 'utf8'));
    expect(config).toMatchObject({ base_model_name_or_path: basePath, r: options[name].rank });
    expect(config.use_rslora).toBe(name === 'rslora' ? true : undefined);
    expect(config.use_dora).toBe(name === 'dora' ? true : undefined);
    const other = await create({ model, lora: { adapter: directory } });
    await other.backend.loadCheckpoint(directory);
    await Promise.all([trainOnce(backend), trainOnce(other.backend)]);
    const [first, second] = [await backend.getWeights(), await other.backend.getWeights()];
    expect(new Map(second)).toEqual(new Map(first));
    await Promise.all([backend.close(), other.backend.close()]);
  });
});

it('an adapter that does not fit the backend is refused with what to do', async () => {
  const { backend } = await create({ model, lora: { rank: 2, alpha: 6 } });
  await expect(backend.loadCheckpoint(folderOf('rslora'))).rejects.toThrow(
    "rank 3 and alpha 4 (rsLoRA), this backend 2 and 6; create it with the same, or with `lora: { adapter: '…' }`",
  );
  await expect(backend.loadCheckpoint(folderOf('plain'))).rejects.toThrow('k_proj');
  await backend.close();
  const full = await create({ model });
  await expect(full.backend.loadCheckpoint(folderOf('plain'))).rejects.toThrow('create it with `lora`');
  await full.backend.close();
  await expect(create({ model, lora: { adapter: folderOf('plain'), rank: 2 } })).rejects.toThrow(
    "lora.rank: the files of 'adapter' decide it; leave it out",
  );
});

it('an adapter of some of the layers of a name, or of another method, is refused with what to do', async () => {
  const adapter = await readLoraAdapter(folderOf('plain'), model.config);
  const partial = await temporaryCheckpoint();
  await mkdir(partial);
  await writeLoraAdapter(partial, { ...adapter, layers: adapter.layers.slice(0, -1) }, model.config);
  const { weight } = adapter.layers.at(-1)!.layer;
  await expect(create({ model, lora: { adapter: partial } })).rejects.toThrow(
    `lora.adapter: ${partial} has no factors for ${weight}, though it adapts other layers of that name; merge it`,
  );
  const dora = { adapter: folderOf('dora') };
  await expect(create({ model, lora: { ...dora, base: 'int8' } })).rejects.toThrow(
    "is of DoRA, which needs lora.base 'float32'",
  );
  await expect(create({ model, lora: { ...dora, dropout: 0.1 } })).rejects.toThrow(
    'is of DoRA with a dropout of 0.1, which are not combined here; pass dropout: 0',
  );
});

it('an adapter names the base model that it is told', async () => {
  const { backend } = await create({ model, lora: { rank: 1, baseModel: 'org/stories' } });
  const { path } = (await backend.publish({ as: 'adapter', directory: await temporaryCheckpoint() })) as {
    readonly path: string;
  };
  const config = JSON.parse(await readFile(join(path, 'adapter_config.json'), 'utf8'));
  expect(config.base_model_name_or_path).toBe('org/stories');
  await backend.close();
});
