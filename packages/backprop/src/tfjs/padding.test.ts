import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Loss, TrainingSequence } from '@rlp/core';
import * as tf from '@tensorflow/tfjs';
import { describe, expect, it } from 'vitest';
import { tinyModel } from '../testing/tiny-model.ts';
import { createTfjsBackend } from './backend.ts';
import { Layers } from './layers.ts';
import { padBatch, padSequences, unpad } from './padding.ts';
import type { TensorFlow } from './tensorflow.ts';

const options = { vocabularySize: 9, contextLength: 8, tokensPerMicroBatch: 6 };
const loss: Loss = {
  key: 'loss',
  columns: ['a'],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
const row = (tokens: number[], mask: number[]): TrainingSequence => ({
  ...{ tokens, mask, weights: tokens.map((_, t) => 10 + t), columns: { a: tokens.map((_, t) => 20 + t) } },
  temperature: 0.5,
});

describe('sequences that are padded', () => {
  it('are computed together by length, longest first, and predict the token behind each', () => {
    const sequences = [
      row([1, 2, 3], [0, 0, 1]),
      row([4], [0]),
      row([5, 6, 7, 8], [0, 1, 0, 1]),
      row([2, 3], [0, 1]),
    ];
    const padded = padBatch({ sequences }, loss, options);
    expect(padded).toMatchObject({ lengths: [3, 1, 4, 2], temperature: 0.5 });
    expect(padded.microBatches).toEqual([
      {
        ...{ rows: 2, length: 3, members: [2, 0] },
        tokens: Int32Array.of(5, 6, 7, 1, 2, 0),
        targets: Int32Array.of(6, 7, 8, 2, 3, 0),
        mask: Float32Array.of(1, 0, 1, 0, 1, 0),
        weights: Float32Array.of(11, 0, 13, 0, 12, 0),
        columns: { a: Float32Array.of(21, 0, 23, 0, 22, 0) },
      },
      {
        ...{ rows: 1, length: 1, members: [3] },
        ...{ tokens: Int32Array.of(2), targets: Int32Array.of(3), mask: Float32Array.of(1) },
        ...{ weights: Float32Array.of(11), columns: { a: Float32Array.of(21) } },
      },
    ]);
    expect(unpad(padded, [Float32Array.of(1, 2, 3, 4, 5, 6), Float32Array.of(7)])).toEqual([
      Float32Array.of(0, 4, 5),
      Float32Array.of(0),
      Float32Array.of(0, 1, 2, 3),
      Float32Array.of(0, 7),
    ]);
  });

  it('that are only scored train nothing, and one above the limit goes alone', () => {
    const padded = padSequences(
      [
        [1, 2],
        [1, 2, 3, 4, 5, 6, 7, 8],
        [3, 4],
      ],
      2,
      options,
    );
    expect(padded.temperature).toBe(2);
    expect(padded.microBatches.map(({ members }) => members)).toEqual([[1], [0, 2]]);
    expect(padded.microBatches[1]!.mask).toEqual(Float32Array.of(0, 0));
    expect(() => padSequences([[9]], 1, options)).toThrow(/^logprobs: invalid batch/);
    expect(() => padBatch({ sequences: [] }, loss, options)).toThrow(/^forwardBackward: invalid batch/);
  });
});

describe('a decoder on TensorFlow.js', () => {
  it('is of a family with equal layers', async () => {
    const base = { tf, learningRate: 0.01 };
    const phi3 = tinyModel({ model_type: 'phi3' });
    expect(() => createTfjsBackend({ ...base, model: phi3 })).toThrow(
      'model: expected llama, mistral, qwen2, qwen3, gpt2 with equal layers, got phi3; use createOnnxBackend',
    );
    for (const wrong of [null, 'model']) {
      expect(() => createTfjsBackend({ tf: wrong as never, learningRate: 1, model: wrong as never })).toThrow(
        /^createTfjsBackend: invalid options[\s\S]*tf: expected the namespace[\s\S]*model: expected a model, from loadModel/,
      );
    }
    const backend = createTfjsBackend({ ...base, model: tinyModel() });
    expect([backend.vocabularySize, backend.contextLength]).toEqual([tinyModel().config.vocabularySize, 32]);
    await expect(backend.loadWeights(new Map())).rejects.toThrow(
      /^loadWeights: weights do not match the model/,
    );
    await backend.close();
  });

  it('has metrics of 0 where nothing is trained, and saves no reference policy that it does not keep', async () => {
    const backend = createTfjsBackend({ tf, learningRate: 0.01, model: tinyModel(), reference: 'none' });
    const metered: Loss = {
      key: 'metered',
      columns: [],
      compute: (ops, { logprobs }) => ({
        tokenLosses: ops.neg(logprobs),
        metrics: { surprise: ops.neg(logprobs) },
      }),
    };
    const { metrics, tokens } = await backend.forwardBackward({ sequences: [row([1, 2], [0, 0])] }, metered);
    expect([metrics, tokens]).toEqual([{ surprise: 0 }, { trained: 0, total: 2 }]);
    const directory = join(await mkdtemp(join(tmpdir(), 'rlp-tfjs-')), 'inner');
    await backend.saveCheckpoint(directory);
    expect(await readdir(directory)).not.toContain('reference.safetensors');
    await backend.close();
  });

  it('names the first tensor whose gradient is not finite, and keeps its weights', async () => {
    const backend = createTfjsBackend({ tf, learningRate: 0.01, model: tinyModel() });
    const before = await backend.getWeights();
    const exploding: Loss = {
      key: 'exploding',
      columns: [],
      compute: (ops, { logprobs }) => ({
        tokenLosses: ops.mul(ops.sub(logprobs, ops.stopGradient(logprobs)), ops.constant(3e38)),
      }),
    };
    await expect(
      backend.forwardBackward({ sequences: [row([1, 2, 3], [0, 1, 1])] }, exploding),
    ).rejects.toThrow(/the gradient of "model\.\S+" is not finite/);
    expect(await backend.optimStep()).toMatchObject({ gradientNorm: 0 });
    expect(new Map(await backend.getWeights())).toEqual(new Map(before));
    await backend.close();
  });

  it('takes the reference policy of a checkpoint over, if it keeps one', async () => {
    const nll: Loss = {
      key: 'nll',
      columns: [],
      compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
    };
    const trained = async (updates: number) => {
      const backend = createTfjsBackend({ tf, learningRate: 0.1, model: tinyModel() });
      for (let update = 0; update < updates; update++) {
        await backend.forwardBackward({ sequences: [row([1, 2, 3], [0, 1, 1])] }, nll);
        await backend.optimStep();
      }
      return backend;
    };
    const scores = async (backend: Awaited<ReturnType<typeof trained>>) =>
      (await backend.logprobs([[1, 2, 3]], { policy: 'reference' }))[0]!.logprobs;
    const [first, other] = [await trained(1), await trained(2)];
    await other.updateReference({ method: 'copy' });
    expect(await scores(other)).not.toEqual(await scores(first));
    const directory = join(await mkdtemp(join(tmpdir(), 'rlp-tfjs-')), 'inner');
    await first.saveCheckpoint(directory);
    await other.loadCheckpoint(directory);
    expect(await scores(other)).toEqual(await scores(first));
    await Promise.all([first.close(), other.close()]);
  });

  it('says which parameter it lacks', () => {
    const layers = new Layers(tf as unknown as TensorFlow, new Map());
    expect(() => layers.parameter('lm_head.weight')).toThrow(
      'decoder: the model has no parameter "lm_head.weight"; load a model of this architecture',
    );
  });
});
