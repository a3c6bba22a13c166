import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArgumentError, type Loss, OptionsError, type Weights } from '@rlp/core';
import { describeFullBackend } from '@rlp/core/testing';
import { loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOnnxBackend } from '../create-backend.ts';
import { sequences, tinyModel, tokenizer } from '../testing/tiny-model.ts';
import { createTfjsBackend } from './backend.ts';
import type { TfjsBackendOptions } from './options.ts';

const model = () =>
  tinyModel({
    model_type: 'qwen3',
    hidden_size: 8,
    intermediate_size: 12,
    head_dim: 4,
    max_position_embeddings: 16,
  });

const temporary = async () => join(await mkdtemp(join(tmpdir(), 'rlp-tfjs-')), 'inner');

const base = { tf, learningRate: 0.01, maxGradientNorm: 'off' } as const;
const create = (options: Partial<Omit<TfjsBackendOptions, 'tf'>> = {}) =>
  createTfjsBackend({ ...base, model: model(), ...options });

const negativeLogLikelihood: Loss = {
  key: 'negative-log-likelihood',
  columns: [],
  compute: (ops, { logprobs }) => ({
    tokenLosses: ops.neg(logprobs),
    metrics: { surprise: ops.neg(logprobs) },
  }),
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

it('lacks a reference policy only if it was told to keep none', async () => {
  const [whole, bare] = [await create(), await create({ reference: 'none' })];
  expect([whole.lacks, bare.lacks]).toEqual([[], ['reference']]);
  await Promise.all([whole.close(), bare.close()]);
});

describeFullBackend('a decoder on TensorFlow.js', {
  create: async () => create(),
  publications: temporary,
  vocabularySize: tokenizer.vocabularySize,
  checkpointDirectory: temporary,
});

describe('createTfjsBackend', () => {
  it('names every bad option', () => {
    const options = { tf: {}, model: model(), learningRate: -1, engine: 1 } as unknown;
    const creating = () => createTfjsBackend(options as TfjsBackendOptions);
    expect(creating).toThrow(OptionsError);
    expect(creating).toThrow(/tf: expected the namespace of TensorFlow\.js/);
    expect(creating).toThrow(/learningRate/);
    expect(creating).toThrow(/engine/);
  });

  it('sends low-rank adaptation to the ONNX backend', () => {
    const lora = { rank: 4 } as unknown as undefined;
    expect(() => create({ lora })).toThrow(/lora: .*createOnnxBackend/);
  });

  it('rejects weights that do not fit the config', () => {
    const tiny = model();
    const weights = new Map([...tiny.weights].slice(1));
    expect(() => create({ model: { ...tiny, weights } })).toThrow('"model.embed_tokens.weight" is missing');
  });
});

describe('a backend on TensorFlow.js', () => {
  it('holds no tensors between calls, whatever becomes of them', async () => {
    const backend = create({ tokensPerMicroBatch: 8 });
    const before = tf.memory().numTensors;
    for (let update = 0; update < 3; update++) {
      await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      await backend.optimStep();
      await backend.logprobs([[1, 2, 3]], { policy: 'reference' });
      expect(tf.memory().numTensors).toBe(before);
    }
    const broken: Loss = {
      key: 'broken',
      columns: [],
      compute(ops, { logprobs }) {
        ops.square(logprobs);
        throw new Error('a mistake in the loss');
      },
    };
    await expect(backend.forwardBackward({ sequences }, broken)).rejects.toThrow('a mistake in the loss');
    expect(tf.memory().numTensors).toBe(before);
    await backend.close();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('has the same gradient however the batch is cut', async () => {
    const [whole, cut] = [create(), create({ tokensPerMicroBatch: 8 })];
    const results = await Promise.all(
      [whole, cut].map((backend) => backend.forwardBackward({ sequences }, negativeLogLikelihood)),
    );
    expect(results[1]!.loss).toBeCloseTo(results[0]!.loss, 5);
    expect(results[1]!.metrics.surprise).toBeCloseTo(results[0]!.metrics.surprise!, 5);
    const [expected, gradients] = await Promise.all([whole.getGradients(), cut.getGradients()]);
    for (const [name, { data }] of expected) {
      const other = gradients.get(name)!.data;
      for (const [i, x] of data.entries()) expect(other[i], name).toBeCloseTo(x, 5);
    }
  });

  it('takes the weights of a checkpoint without a reference policy for its reference', async () => {
    const path = await temporary();
    await create({ reference: 'none' }).saveCheckpoint(path);
    const backend = create();
    const scored = async (policy: 'current' | 'reference') =>
      (await backend.logprobs([[1, 2, 3]], { policy }))[0]!.logprobs;
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
    await backend.updateReference({ method: 'copy' });
    await backend.loadCheckpoint(path);
    expect(await scored('reference')).toEqual(await scored('current'));
  });

  it('sends losses that read values to the ONNX backend', async () => {
    const backend = create();
    const values: Loss = {
      key: 'values',
      columns: [],
      values: 'needed',
      compute: (_, inputs) => ({ tokenLosses: inputs.values! }),
    };
    const refused = backend.forwardBackward({ sequences }, values);
    await expect(refused).rejects.toThrow(ArgumentError);
    await expect(refused).rejects.toThrow(/use createOnnxBackend with valueHead/);
    await backend.close();
  });

  it('takes a loss that depends on no parameter', async () => {
    const constant: Loss = {
      key: 'constant',
      columns: [],
      compute: (ops) => ({ tokenLosses: ops.constant(2) }),
    };
    const backend = create();
    expect((await backend.forwardBackward({ sequences }, constant)).loss).toBeCloseTo(2 * 8 * 0.125, 6);
    expect((await backend.optimStep()).gradientNorm).toBe(0);
  });

  it('clips the global norm and follows its schedule', async () => {
    const backend = create({ maxGradientNorm: 0.01, schedule: { kind: 'linear', updates: 4 } });
    const before = await backend.getWeights();
    for (const learningRate of [0.01, 0.0075]) {
      await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      const step = await backend.optimStep();
      expect(step.gradientNorm).toBeGreaterThan(0.1);
      expect(step.learningRate).toBeCloseTo(learningRate, 12);
    }
    expect(await backend.getWeights()).not.toEqual(before);
  });

  it('takes the step that the ONNX backend takes with a clipped gradient', async () => {
    const engine = await createEngine({ thread: 'inline', threads: 1 });
    const clipped = { learningRate: 0.01, maxGradientNorm: 1e-7 } as const;
    const backends = [
      await createOnnxBackend({ engine, model: model(), ...clipped }),
      create(clipped),
      create(),
    ];
    const [onnx, tfjs, unclipped] = await Promise.all(
      backends.map(async (backend) => {
        await backend.forwardBackward({ sequences }, negativeLogLikelihood);
        await backend.optimStep();
        return backend.getWeights();
      }),
    );
    await engine.close();
    const apart = (one: Weights, other: Weights) =>
      Math.max(
        ...[...one].flatMap(([name, { data }]) =>
          [...data].map((x, i) => Math.abs(x - other.get(name)!.data[i]!)),
        ),
      );
    expect(apart(tfjs!, onnx!)).toBeLessThan(1e-4);
    // With a gradient this small, Adam's epsilon keeps the step far below the learning rate.
    expect(apart(tfjs!, unclipped!)).toBeGreaterThan(1e-3);
  });

  it('publishes model folders and keeps the last two', async () => {
    const publications = await temporary();
    const backend = create();
    for (const version of [1, 2, 3]) {
      expect(await backend.publish({ as: 'checkpoint', directory: publications })).toEqual({
        kind: 'checkpoint',
        version,
        path: join(publications, String(version)),
      });
    }
    expect((await readdir(publications)).sort()).toEqual(['2', '3']);
    const loaded = await loadModel(join(publications, '3'));
    expect(loaded.weights).toEqual(await backend.getWeights());
  });

  it('has no reference policy when told to save its memory', async () => {
    const backend = create({ reference: 'none' });
    const refused = backend.logprobs([[1, 2]], { policy: 'reference' });
    await expect(refused).rejects.toThrow(/reference: 'initial'/);
    await expect(backend.updateReference({ method: 'copy' })).rejects.toThrow(/reference: 'initial'/);
  });

  it('stops scoring when its signal is aborted', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(create().logprobs([[1, 2]], { signal })).rejects.toThrow('enough');
  });

  it('continues a run of the ONNX backend from its checkpoint', async () => {
    const directory = await temporary();
    const engine = await createEngine({ thread: 'inline', threads: 1 });
    const onnx = await createOnnxBackend({
      engine,
      model: model(),
      learningRate: 0.01,
      maxGradientNorm: 'off',
    });
    const step = async (backend: typeof onnx | ReturnType<typeof create>) => {
      const { loss } = await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      return { loss, ...(await backend.optimStep()) };
    };
    await step(onnx);
    await onnx.publish({ as: 'shared' });
    await onnx.saveCheckpoint(directory);
    const tfjs = create();
    await tfjs.loadCheckpoint(directory);
    expect(tfjs.weightVersion).toBe(1);
    for (let update = 2; update < 5; update++) {
      const [expected, got] = [await step(onnx), await step(tfjs)];
      expect(got.updates).toBe(update);
      expect(got.loss).toBeCloseTo(expected.loss, 4);
      expect(got.gradientNorm).toBeCloseTo(expected.gradientNorm, 4);
    }
    await engine.close();
  });
});
