import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Loss, TrainingSequence } from '@rlp/core';
import { loadModel } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { createOnnxBackend } from './create-backend.ts';
import { globalNorm } from './optimizer.ts';

const shared = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../shared', import.meta.url));
const models = ['stories260k', 'tinystories656k', 'babyllama105'] as const;
const available = models.filter((model) => existsSync(`${shared}/data/${model}/train_golden.json`));
if (available.length < models.length) {
  console.warn(
    `skipped: no train_golden.json of ${models.filter((m) => !available.includes(m))} in ${shared}`,
  );
}

interface Golden {
  readonly tolerance_float32: {
    readonly loss: number;
    readonly grad_norm_rel: number;
    readonly losses: number;
  };
  readonly batch_ids: number[][];
  readonly loss: number;
  readonly grad_norm_total: number;
  readonly grads: Record<string, { norm: number; sum: number; first4: number[] }>;
  readonly adamw_losses: number[];
}

const crossEntropy: Loss = {
  key: 'cross-entropy',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};

let engine: Engine;
afterEach(() => engine.close());

async function open(model: string, options: { thread: 'inline' | 'worker'; tokensPerMicroBatch: number }) {
  engine = await createEngine({ thread: options.thread, threads: 1 });
  const golden = JSON.parse(readFileSync(`${shared}/data/${model}/train_golden.json`, 'utf8')) as Golden;
  const backend = await createOnnxBackend({
    engine,
    model: await loadModel(`${shared}/data/${model}`),
    learningRate: 1e-4,
    optimizer: { beta1: 0.9, beta2: 0.95, weightDecay: 0.01, decay: 'all' },
    maxGradientNorm: 'off',
    tokensPerMicroBatch: options.tokensPerMicroBatch,
    reference: 'none',
  });
  const sequences = golden.batch_ids.map((tokens): TrainingSequence => {
    const weight = 1 / (golden.batch_ids.length * (tokens.length - 1));
    const mask = tokens.map((_, t) => Math.min(t, 1));
    return { tokens, mask, weights: tokens.map(() => weight), columns: {} };
  });
  return { golden, backend, sequences };
}

describe.each(models)('%s', (model) => {
  const golden = it.skipIf(!available.includes(model));

  golden.each([
    { thread: 'inline', tokensPerMicroBatch: 4096 },
    { thread: 'inline', tokensPerMicroBatch: 64 },
  ] as const)('has the gradient of every tensor, %j', async (options) => {
    const { golden, backend, sequences } = await open(model, options);
    const { loss } = await backend.forwardBackward({ sequences }, crossEntropy);
    expect(Math.abs(loss - golden.loss)).toBeLessThan(golden.tolerance_float32.loss);
    const gradients = await engine.readStore('policy', 'gradient');
    expect([...gradients.keys()].sort()).toEqual(Object.keys(golden.grads).sort());
    for (const [name, { norm, sum, first4 }] of Object.entries(golden.grads)) {
      const data = Float64Array.from(gradients.get(name)!.data);
      const allowed = golden.tolerance_float32.grad_norm_rel * norm;
      expect(Math.abs(globalNorm([data]) - norm), `${name} norm`).toBeLessThan(allowed);
      const total = data.reduce((accumulated, x) => accumulated + x, 0);
      expect(Math.abs(total - sum), `${name} sum`).toBeLessThan(allowed * Math.sqrt(data.length));
      for (const [i, expected] of first4.entries()) {
        expect(Math.abs(data[i]! - expected), `${name}[${i}]`).toBeLessThan(allowed);
      }
    }
    const { gradientNorm } = await backend.optimStep();
    expect(Math.abs(gradientNorm / golden.grad_norm_total - 1)).toBeLessThan(1e-4);
  });

  golden('has the losses of six AdamW updates, pipelined to the worker', async () => {
    const { golden, backend, sequences } = await open(model, { thread: 'worker', tokensPerMicroBatch: 4096 });
    const results = golden.adamw_losses.map(() => {
      const result = backend.forwardBackward({ sequences }, crossEntropy);
      backend.optimStep();
      return result;
    });
    for (const [update, expected] of golden.adamw_losses.entries()) {
      const { loss } = await results[update]!;
      expect(Math.abs(loss - expected), `update ${update}`).toBeLessThan(golden.tolerance_float32.losses);
    }
  });
});
