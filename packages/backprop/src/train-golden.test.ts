import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Loss, TrainingSequence } from '@rlp/core';
import { loadModel } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxBackend } from './create-backend.ts';
import { globalNorm } from './optimizer/optimizer.ts';

const shared = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../shared', import.meta.url));
const models = ['stories260k', 'tinystories656k', 'babyllama105'] as const;
const ofRepository = fileURLToPath(new URL('../../../examples/models', import.meta.url));
/** Folder of the shared model, or of the repository's model. */
const folderOf = (model: string) =>
  existsSync(`${shared}/data/${model}`) ? `${shared}/data/${model}` : `${ofRepository}/${model}`;
const available = models.filter((model) => existsSync(`${folderOf(model)}/train_golden.json`));
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

const threads = ['inline', 'worker'] as const;
const engines = new Map<(typeof threads)[number], Engine>();
beforeAll(async () => {
  for (const thread of threads) engines.set(thread, await createEngine({ thread, threads: 1 }));
});
afterAll(async () => {
  for (const engine of engines.values()) await engine.close();
});

function readGolden(model: string) {
  const golden = JSON.parse(readFileSync(`${folderOf(model)}/train_golden.json`, 'utf8')) as Golden;
  const sequences = golden.batch_ids.map((tokens): TrainingSequence => {
    const weight = 1 / (golden.batch_ids.length * (tokens.length - 1));
    const mask = tokens.map((_, t) => Math.min(t, 1));
    return { tokens, mask, weights: tokens.map(() => weight), columns: {} };
  });
  return { golden, sequences };
}

async function open(model: string, engine: Engine, tokensPerMicroBatch: number) {
  return createOnnxBackend({
    engine,
    model: await loadModel(folderOf(model)),
    learningRate: 1e-4,
    optimizer: { beta1: 0.9, beta2: 0.95, weightDecay: 0.01, decay: 'all' },
    maxGradientNorm: 'off',
    tokensPerMicroBatch,
    reference: 'none',
  });
}

async function expectGradients(engine: Engine, { grads, tolerance_float32: tolerance }: Golden) {
  const gradients = await engine.readStore('policy', 'gradient');
  expect([...gradients.keys()].sort()).toEqual(Object.keys(grads).sort());
  for (const [name, { norm, sum, first4 }] of Object.entries(grads)) {
    const data = Float64Array.from(gradients.get(name)!.data);
    const allowed = tolerance.grad_norm_rel * norm;
    expect(Math.abs(globalNorm([data]) - norm), `${name} norm`).toBeLessThan(allowed);
    const total = data.reduce((accumulated, x) => accumulated + x, 0);
    expect(Math.abs(total - sum), `${name} sum`).toBeLessThan(allowed * Math.sqrt(data.length));
    for (const [i, expected] of first4.entries()) {
      expect(Math.abs(data[i]! - expected), `${name}[${i}]`).toBeLessThan(allowed);
    }
  }
}

describe.each(models)('%s', (model) => {
  const golden = it.skipIf(!available.includes(model));

  golden('has the loss and the gradient of every tensor, in micro-batches', async () => {
    const { golden, sequences } = readGolden(model);
    const engine = engines.get('inline')!;
    const backend = await open(model, engine, 64);
    const { loss } = await backend.forwardBackward({ sequences }, crossEntropy);
    expect(Math.abs(loss - golden.loss)).toBeLessThan(golden.tolerance_float32.loss);
    await expectGradients(engine, golden);
    await backend.close();
  });

  golden('has the gradients, their norm and the losses of six AdamW updates, in the worker', async () => {
    const { golden, sequences } = readGolden(model);
    const engine = engines.get('worker')!;
    const backend = await open(model, engine, 4096);
    const results = [backend.forwardBackward({ sequences }, crossEntropy)];
    await results[0];
    await expectGradients(engine, golden);
    const updated = backend.optimStep();
    for (let update = 1; update < golden.adamw_losses.length; update++) {
      results.push(backend.forwardBackward({ sequences }, crossEntropy));
      backend.optimStep();
    }
    for (const [update, expected] of golden.adamw_losses.entries()) {
      const { loss } = await results[update]!;
      expect(Math.abs(loss - expected), `update ${update}`).toBeLessThan(golden.tolerance_float32.losses);
    }
    expect(Math.abs((await updated).gradientNorm / golden.grad_norm_total - 1)).toBeLessThan(1e-4);
    await backend.close();
  });
});
