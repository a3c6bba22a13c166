import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError, type Loss, OptionsError, TrainingError } from '@rlp/core';
import { describeFullBackend } from '@rlp/core/testing';
import { loadModel } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import type { OnnxBackendOptions } from './backend-options.ts';
import { createOnnxBackend } from './create-backend.ts';
import { estimateMemory } from './memory/estimate-memory.ts';
import { inlineBackends, temporaryCheckpoint } from './testing/inline-backends.ts';
import { negativeLogLikelihood, sequences, tinyModel, tokenizer } from './testing/tiny-model.ts';

const backends = inlineBackends();
const create = backends.create;

describeFullBackend('a decoder, fully trained', {
  create: async () => (await create()).backend,
  vocabularySize: tokenizer.vocabularySize,
  checkpointDirectory: temporaryCheckpoint,
});

describe('createOnnxBackend', () => {
  it('names every bad option', async () => {
    const options = {
      engine: backends.engine,
      model: tinyModel(),
      learningRate: -1,
      storee: 'x',
    } as OnnxBackendOptions;
    await expect(createOnnxBackend(options)).rejects.toThrow(OptionsError);
    await expect(createOnnxBackend(options)).rejects.toThrow(/learningRate.*\n.*storee/);
  });

  it('rejects weights that do not fit the config, and leaves no store behind', async () => {
    const model = tinyModel();
    const weights = new Map([...model.weights].slice(1));
    const creating = create({ model: { ...model, weights }, store: 'broken' });
    await expect(creating).rejects.toThrow(ArgumentError);
    await expect(creating).rejects.toThrow('"model.embed_tokens.weight" is missing');
    expect(backends.engine.hasStore('broken')).toBe(false);
  });

  it('names itself in errors of weights and options', async () => {
    const model = tinyModel();
    const [name, { shape, data }] = [...model.weights][0]!;
    const damaged = new Map([...model.weights, [name, { shape, data: data.map(() => Number.NaN) }]]);
    await expect(create({ model: { ...model, weights: damaged }, store: 'broken' })).rejects.toThrow(
      `createOnnxBackend: "${name}" has the value NaN at 0, expected finite ones: the weights have diverged or are damaged`,
    );
    const end = new Map([...model.weights, [name, { shape, data: data.with(data.length - 1, Infinity) }]]);
    await expect(create({ model: { ...model, weights: end }, store: 'broken' })).rejects.toThrow(
      `has the value Infinity at ${data.length - 1}`,
    );
    for (const wrong of ['cpu', null, {}]) {
      await expect(create({ engine: wrong as never, model: wrong as never })).rejects.toThrow(
        /^createOnnxBackend: invalid options[\s\S]*engine: expected an engine, from createEngine[\s\S]*model: expected a model, from loadModel/,
      );
    }
  });

  it.each<[OnnxBackendOptions['lora'], string]>([
    [{ variant: 'dora', base: 'int8' }, "lora.variant: 'dora' needs base 'float32'"],
    [{ variant: 'dora', dropout: 0.1 }, "lora.dropout: is not combined with variant 'dora'; leave it out"],
    [{ adapter: 'x', rank: 2 }, "lora.rank: the files of 'adapter' decide it; leave it out"],
    [{ adapter: 'x', targets: ['q_proj'] }, "lora.targets: the files of 'adapter' decide it; leave it out"],
  ])('refuses %o', async (lora, message) => {
    await expect(create({ lora })).rejects.toThrow(OptionsError);
    await expect(create({ lora })).rejects.toThrow(message);
  });

  it('takes DoRA without dropout', async () => {
    const { backend } = await create({ lora: { variant: 'dora', dropout: 0 } });
    expect([backend.publishes, backend.lacks]).toEqual([
      ['shared', 'checkpoint'],
      ['weights', 'values'],
    ]);
    await expect(backend.loadWeights(await backend.getWeights())).rejects.toThrow(
      "loadWeights: this backend trains the lengths of the frozen weights' rows (lora.variant 'dora')",
    );
    await backend.close();
  });

  it('wants a store of its own, and leaves that of another alone', async () => {
    const { backend, store } = await create();
    await expect(create({ store })).rejects.toThrow(ArgumentError);
    await expect(create({ store })).rejects.toThrow(
      `createOnnxBackend: the engine has a store "${store}" already; give this backend another one, such as \`store: 'critic'\`, or create it before the sampler that shares its store`,
    );
    expect(await backend.logprobs([[0, 1]])).toHaveLength(1);
    await backend.close();
    // What it made before it found a store that is taken is freed again.
    await backends.engine.createStore({ name: 'halves/adapter', parameters: [{ name: 'x', shape: [1] }] });
    await expect(create({ store: 'halves', lora: {} })).rejects.toThrow('a store "halves/adapter" already');
    expect(backends.engine.hasStore('halves')).toBe(false);
    await backends.engine.deleteStore('halves/adapter');
  });

  it('says what it shares, publishes and lacks, and what it will take', async () => {
    const { backend, store } = await create({ reference: 'none', valueHead: 'linear' });
    expect(backend.shares).toEqual({ engine: backends.engine, store });
    expect([backend.vocabularySize, backend.contextLength]).toEqual([tokenizer.vocabularySize, 32]);
    expect([backend.publishes, backend.lacks]).toEqual([['shared', 'checkpoint'], ['reference']]);
    const { bytes } = backend.forecastMemory(sequences)!;
    const { config } = tinyModel();
    const { gradients, reference } = estimateMemory({ config, rows: 2, length: 8, reference: 'none' });
    expect([bytes.gradients, bytes.reference]).toEqual([gradients, reference]);
    await backend.close();
    const corrected = await create({ lora: { rank: 2, modulesToSave: ['lm_head'] } });
    expect([corrected.backend.publishes, corrected.backend.lacks]).toEqual([
      ['shared', 'checkpoint'],
      ['values'],
    ]);
    const lora = { rank: 2, modulesToSave: ['lm_head'] };
    expect(corrected.backend.forecastMemory(sequences)!.bytes.gradients).toBe(
      estimateMemory({ config, rows: 1, length: 8, lora }).gradients,
    );
    await corrected.backend.close();
    await expect(corrected.backend.logprobs([[0, 1]])).rejects.toThrow(
      'this training backend is closed; create another one',
    );
  });

  it('publishes files in the forms that it has, and removes all but the last two', async () => {
    const { backend } = await create();
    const directory = await temporaryCheckpoint();
    await expect(backend.publish({ as: 'adapter', directory })).rejects.toThrow(
      'publish: this backend publishes as shared, checkpoint, got adapter; choose one that it has',
    );
    await expect(backend.publish({ as: 'checkpoint' })).rejects.toThrow(
      "publish: 'checkpoint' writes files; pass the directory that the sampler reads them from",
    );
    for (const version of [1, 2, 3]) {
      expect(await backend.publish({ as: 'checkpoint', directory })).toEqual({
        ...{ kind: 'checkpoint', version, path: join(directory, String(version)) },
      });
    }
    expect((await readdir(directory)).toSorted()).toEqual(['2', '3']);
    expect(new Map((await loadModel(join(directory, '3'))).weights)).toEqual(
      new Map(await backend.getWeights()),
    );
    expect(backend.weightVersion).toBe(3);
    await backend.close();
  });

  it('frees its stores on close', async () => {
    const { backend, store } = await create({ lora: {}, tokensPerMicroBatch: 8 });
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
    await backend.close();
    for (const name of ['', '/base', '/adapter', '/scratch', '/reference']) {
      expect(backends.engine.hasStore(`${store}${name}`)).toBe(false);
    }
  });

  it('clips the global norm as PyTorch does', async () => {
    const [free, clipped] = [await create(), await create({ maxGradientNorm: 0.01 })];
    const norms: number[] = [];
    for (const { backend } of [free, clipped]) {
      await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      norms.push((await backend.optimStep()).gradientNorm);
    }
    expect(norms[0]).toBeGreaterThan(0.1);
    expect(norms[1]).toBe(norms[0]);
    const moments = async (store: string) =>
      (await backends.engine.readStore(store, 'moment1')).get('model.norm.weight')!;
    const [full, scaled] = [await moments(free.store), await moments(clipped.store)];
    for (const [i, moment] of full.data.entries()) {
      expect(scaled.data[i]! / moment).toBeCloseTo(0.01 / norms[0]!, 4);
    }
    await Promise.all([free.backend.close(), clipped.backend.close()]);
  });

  it('follows the schedule and decays matrices alone', async () => {
    const schedule = { kind: 'linear', updates: 4 } as const;
    const { backend } = await create({ schedule, optimizer: { weightDecay: 0.5 } });
    const before = await backend.getWeights();
    const rates = [];
    for (let update = 0; update < 4; update++) rates.push((await backend.optimStep()).learningRate);
    expect(rates).toEqual([0.01, 0.0075, 0.005, 0.0025]);
    const after = await backend.getWeights();
    const shrink = rates.reduce((product, rate) => product * (1 - 0.5 * rate), 1);
    for (const [name, { shape, data }] of before) {
      const expected = shape.length >= 2 ? shrink * data[0]! : data[0]!;
      expect(after.get(name)!.data[0], name).toBeCloseTo(expected, 6);
    }
    await backend.close();
  });

  it('names the first tensor whose gradient is not finite, and keeps weights and update count', async () => {
    const { backend } = await create();
    const before = await backend.getWeights();
    const exploding: Loss = {
      key: 'exploding',
      columns: [],
      compute: (ops, { logprobs }) => {
        const zero = ops.sub(logprobs, ops.stopGradient(logprobs));
        return { tokenLosses: ops.mul(zero, ops.constant(3e38)) };
      },
    };
    const large = sequences.map((one) => ({ ...one, weights: one.tokens.map(() => 4) }));
    const failing = backend.forwardBackward({ sequences: large }, exploding);
    await expect(failing).rejects.toThrow(TrainingError);
    await expect(failing).rejects.toThrow(/the gradient of "model\.\S+" is not finite/);
    expect(new Map(await backend.getWeights())).toEqual(new Map(before));
    expect(await backend.optimStep()).toMatchObject({ gradientNorm: 0, updates: 1 });
    await backend.close();
  });

  it('has no reference policy when told to keep none', async () => {
    const { backend, store } = await create({ reference: 'none' });
    await backend.optimStep();
    expect(backends.engine.hasStore(`${store}/reference`)).toBe(false);
    await expect(backend.logprobs([[0, 1]], { policy: 'reference' })).rejects.toThrow(
      "there is no reference policy; create the backend with reference: 'initial'",
    );
    await expect(backend.updateReference({ method: 'copy' })).rejects.toThrow(TrainingError);
    await expect(backend.updateReference({ method: 'ema', decay: 2 })).rejects.toThrow(ArgumentError);
    await backend.close();
  });

  it('names a batch that it is given to score in place of lists of tokens', async () => {
    const { backend } = await create();
    await expect(backend.logprobs({ sequences: [] } as never)).rejects.toThrow('logprobs: sequences must be');
    await expect(backend.logprobs([{ tokens: [0, 1] }] as never)).rejects.toThrow('logprobs: sequences');
    await backend.close();
  });

  it('knows two policies to score with', async () => {
    const { backend } = await create();
    await expect(backend.logprobs([[0, 1]], { policy: 'old' as never })).rejects.toThrow(
      "logprobs: policy must be 'current' or 'reference', got old",
    );
    await backend.close();
  });

  it('stops scoring when its signal aborts', async () => {
    const { backend } = await create({ tokensPerMicroBatch: 1 });
    const controller = new AbortController();
    const scoring = backend.logprobs(Array(50).fill([0, 1, 2]), { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(scoring).rejects.toThrow('enough');
    await expect(backend.logprobs([[0, 1]])).resolves.toHaveLength(1);
    await backend.close();
  });

  it('gives the same gradients when activations are recomputed', async () => {
    const gradients = [];
    for (const activations of ['keep', 'recompute'] as const) {
      const { backend, store } = await create({ activations });
      await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      gradients.push(await backends.engine.readStore(store, 'gradient'));
      await backend.close();
    }
    for (const [name, { data }] of gradients[0]!) {
      const other = gradients[1]!.get(name)!.data;
      for (const [i, value] of data.entries()) expect(other[i], name).toBeCloseTo(value, 6);
    }
  });
});

describe('a full checkpoint', () => {
  it('is a model folder that loads as one', async () => {
    const { backend } = await create();
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
    const directory = await temporaryCheckpoint();
    await backend.saveCheckpoint(directory);
    const loaded = await loadModel(directory);
    expect(new Map(loaded.weights)).toEqual(new Map(await backend.getWeights()));
    expect(await readdir(join(directory, '..'))).toEqual(['checkpoint']);
    await backend.close();
  });
});

describe('a checkpoint of another kind', () => {
  it('is refused with what it is, and how to load it', async () => {
    const saved = async (options: Partial<OnnxBackendOptions>) => {
      const { backend } = await create(options);
      const directory = await temporaryCheckpoint();
      await backend.saveCheckpoint(directory);
      await backend.close();
      return directory;
    };
    const full = await saved({});
    const headed = await saved({ valueHead: 'linear' });
    const corrected = await saved({ lora: { rank: 2 } });
    const scaled = await saved({ lora: { rank: 2, scaling: 'root-rank' } });
    const lion = await saved({ optimizer: { kind: 'lion' } });
    const refused = async (options: Partial<OnnxBackendOptions>, directory: string) => {
      const { backend } = await create(options);
      const message = await backend.loadCheckpoint(directory).then(
        () => 'loaded',
        (error: Error) => error.message.replaceAll(directory, 'it'),
      );
      await backend.close();
      return message;
    };
    expect(await refused({ lora: {} }, full)).toBe(
      'loadCheckpoint: it trains every weight, and this backend trains a low-rank correction; create it without `lora`',
    );
    expect(await refused({}, corrected)).toBe(
      'loadCheckpoint: it trains a low-rank correction, and this backend trains every weight; create it with `lora`',
    );
    expect(await refused({}, headed)).toBe(
      "loadCheckpoint: it holds a value head, this backend has none; load it into one that createOnnxBackend made with valueHead: 'linear'",
    );
    expect(await refused({ valueHead: 'linear' }, full)).toBe(
      "loadCheckpoint: it holds no value head, this backend has one; load it into one that createOnnxBackend made with valueHead: 'none'",
    );
    expect(await refused({ lora: { rank: 4 } }, scaled)).toMatch(
      /^loadCheckpoint: it has rank 2 and alpha 16 \(rsLoRA\), this backend 4 and 16; create it with the same, or with `lora: \{ adapter: '…' \}`/,
    );
    expect(await refused({ lora: { rank: 2, variant: 'dora' } }, corrected)).toMatch(
      /has rank 2 and alpha 16, this backend 2 and 16 \(DoRA\);/,
    );
    expect(await refused({}, lion)).toBe(
      "loadCheckpoint: it was trained by the optimizer 'lion', and this backend's is 'adamw'; create it with optimizer: { kind: 'lion' }, or load with { optimizer: 'fresh' }",
    );
    const wider = tinyModel({ intermediate_size: 32 });
    expect(await refused({ model: wider }, full)).toMatch(/mlp\.\w+_proj\.weight/);
  });

  it('starts anew with another optimizer, if it is told to', async () => {
    const { backend } = await create({ optimizer: { kind: 'lion' } });
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
    await backend.publish({ as: 'shared' });
    const directory = await temporaryCheckpoint();
    await backend.saveCheckpoint(directory);
    const other = (await create()).backend;
    await other.loadCheckpoint(directory, { optimizer: 'fresh' });
    expect(new Map(await other.getWeights())).toEqual(new Map(await backend.getWeights()));
    expect([other.weightVersion, (await other.optimStep()).updates]).toEqual([1, 1]);
    await backend.loadCheckpoint(directory);
    expect((await backend.optimStep()).updates).toBe(2);
    await Promise.all([backend.close(), other.close()]);
  });
});
