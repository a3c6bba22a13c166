import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError, type Loss, OptionsError, TrainingError } from '@rlp/core';
import { describeFullBackend } from '@rlp/core/testing';
import { loadModel } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import type { OnnxBackendOptions } from './backend-options.ts';
import { createOnnxBackend } from './create-backend.ts';
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
