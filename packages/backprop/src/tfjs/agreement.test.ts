import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Loss, TrainingBatch, TrainingSequence, Weights } from '@rlp/core';
import {
  characterTokenizer,
  createModel,
  type LanguageModel,
  loadModel,
  loadModelConfig,
  loadWeights,
} from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import * as tf from '@tensorflow/tfjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxBackend } from '../create-backend.ts';
import { tinyModel } from '../testing/tiny-model.ts';
import { createTfjsBackend } from './backend.ts';

const fixtures = fileURLToPath(new URL('../../../models/fixtures/testdata', import.meta.url));
const stories = fileURLToPath(new URL('../../../../examples/models/stories260k', import.meta.url));

/** Computed by transformers and PyTorch. */
interface Golden {
  readonly batch_ids: number[][];
  readonly loss: number;
  readonly grads: Record<string, { norm: number; sum: number; first4: number[] }>;
}

interface StoriesGolden extends Golden {
  readonly tolerance_float32: {
    readonly loss: number;
    readonly grad_norm_rel: number;
    readonly losses: number;
  };
  readonly adamw_losses: number[];
}

const crossEntropy: Loss = {
  key: 'cross-entropy',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};

/** A clipped surrogate with an entropy bonus. It covers every kind of operation in losses. */
const clippedSurrogate: Loss = {
  key: 'clipped-surrogate',
  columns: ['advantages', 'behaviorLogprobs'],
  entropies: 'needed',
  compute(ops, { logprobs, entropies, mask, columns }) {
    const ratio = ops.exp(ops.sub(logprobs, columns.behaviorLogprobs!));
    const clipped = ops.clip(ratio, 0.9, 1.1);
    const advantages = columns.advantages!;
    const surrogate = ops.minimum(ops.mul(ratio, advantages), ops.mul(clipped, advantages));
    const share = ops.div(logprobs, ops.maximum(ops.rowSum(mask), ops.constant(1)));
    const bonus = ops.add(ops.mul(ops.constant(0.1), entropies!), ops.mul(share, ops.stopGradient(share)));
    return {
      tokenLosses: ops.neg(ops.add(surrogate, bonus)),
      metrics: { clipped: ops.greater(ops.abs(ops.sub(ratio, clipped)), ops.constant(0)) },
    };
  },
};

function batchOf(rows: readonly number[][], change: Partial<TrainingSequence> = {}): TrainingBatch {
  const trained = rows.reduce((sum, row) => sum + row.length - 1, 0);
  return {
    sequences: rows.map((tokens) => ({
      tokens,
      mask: tokens.map((_, t) => Math.min(t, 1)),
      weights: tokens.map(() => 1 / trained),
      columns: {},
      ...change,
    })),
  };
}

async function fixture(name: string): Promise<LanguageModel> {
  const config = await loadModelConfig(`${fixtures}/${name}`);
  const { weights } = await loadWeights(`${fixtures}/${name}`, config);
  const tokenizer = characterTokenizer('abc');
  return { ...createModel({ config, tokenizer, seed: name }), config, weights };
}

function norm(values: ArrayLike<number>): number {
  return Math.sqrt(Array.from(values).reduce((sum, x) => sum + x * x, 0));
}

/** Largest of ‖a − b‖ / ‖b‖ over all tensors. */
function largestGap(a: Weights, b: Weights): number {
  expect([...a.keys()].sort()).toEqual([...b.keys()].sort());
  const gaps = [...b].map(([name, { data }]) => {
    const other = a.get(name)!.data;
    return norm(data.map((x, i) => x - other[i]!)) / Math.max(norm(data), 1e-6);
  });
  return Math.max(...gaps);
}

function expectGolden(gradients: Weights, golden: Golden, tolerance: number): void {
  expect([...gradients.keys()].sort()).toEqual(Object.keys(golden.grads).sort());
  for (const [name, expected] of Object.entries(golden.grads)) {
    const { data } = gradients.get(name)!;
    const allowed = tolerance * Math.max(expected.norm, 1e-4);
    expect(Math.abs(norm(data) - expected.norm), `${name} norm`).toBeLessThan(allowed);
    const sum = data.reduce((total, x) => total + x, 0);
    expect(Math.abs(sum - expected.sum), `${name} sum`).toBeLessThan(allowed * Math.sqrt(data.length));
    for (const [i, x] of expected.first4.entries()) {
      expect(Math.abs(data[i]! - x), `${name}[${i}]`).toBeLessThan(allowed);
    }
  }
}

let engine: Engine;
let created = 0;
beforeAll(async () => {
  await tf.setBackend('cpu');
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterAll(() => engine.close());

const training = {
  learningRate: 1e-4,
  optimizer: { beta1: 0.9, beta2: 0.95, weightDecay: 0.01, decay: 'all' },
  maxGradientNorm: 'off',
  reference: 'none',
} as const;

/** The same call on both backends: results of this backend, and the distance of their gradients. */
async function compare(model: LanguageModel, batch: TrainingBatch, loss: Loss) {
  const store = `policy-${created++}`;
  const onnx = await createOnnxBackend({ engine, model, store, ...training });
  const backend = createTfjsBackend({ tf, model, tokensPerMicroBatch: 64, ...training });
  const expected = await onnx.forwardBackward(batch, loss);
  const result = await backend.forwardBackward(batch, loss);
  const gradients = await backend.getGradients();
  const gap = largestGap(gradients, await engine.readStore(store, 'gradient'));
  await onnx.close();
  return { backend, expected, result, gradients, gap };
}

const names = [
  'gpt2',
  'gpt2-gelu',
  'mistral',
  'qwen2',
  'qwen3',
  'llama-biases',
  'llama-linear',
  'llama-llama3',
  'llama-yarn',
];

describe.each(names)('%s on TensorFlow.js', (name) => {
  it('has the loss and gradients of transformers and of the ONNX backend', async () => {
    const golden = JSON.parse(readFileSync(`${fixtures}/${name}/golden.json`, 'utf8')) as Golden;
    const { result, gradients, gap } = await compare(
      await fixture(name),
      batchOf(golden.batch_ids),
      crossEntropy,
    );
    expect(Math.abs(result.loss - golden.loss)).toBeLessThan(2e-5);
    expectGolden(gradients, golden, 1e-4);
    expect(gap).toBeLessThan(2e-5);
  });
});

describe('the two backends', () => {
  it('agree on a clipped surrogate with entropies, at a temperature, on ragged sequences', async () => {
    const rows = [
      [1, 7, 3, 60, 12, 5, 9, 22, 30, 41, 8, 2],
      [5, 9, 9, 20],
      [33, 2, 41, 6, 6, 17, 3],
    ];
    const { sequences } = batchOf(rows, { temperature: 0.7 });
    const batch = {
      sequences: sequences.map((sequence, row) => ({
        ...sequence,
        columns: {
          advantages: sequence.tokens.map((_, t) => (row - 1) * 0.5 + (t % 2)),
          behaviorLogprobs: sequence.tokens.map((_, t) => -4 - 0.3 * (t % 3)),
        },
      })),
    };
    const { expected, result, gap } = await compare(await fixture('qwen3'), batch, clippedSurrogate);
    expect(gap).toBeLessThan(2e-5);
    expect(Math.abs(result.loss - expected.loss)).toBeLessThan(1e-5);
    expect(result.metrics.clipped).toBeCloseTo(expected.metrics.clipped!, 6);
    expect(result.tokens).toEqual(expected.tokens);
    for (const [row, logprobs] of result.logprobs.entries()) {
      expect(norm(logprobs.map((x, t) => x - expected.logprobs[row]![t]!))).toBeLessThan(1e-4);
    }
  });
});

describe('attention in blocks', () => {
  it.each([
    ['all earlier tokens', {}],
    ['a window', { model_type: 'mistral', sliding_window: 300 }],
  ])(
    'agrees with attention at once, of answers to a long prompt and a short sequence: %s',
    async (_, change) => {
      const narrow = { hidden_size: 8, num_attention_heads: 2, num_key_value_heads: 1, intermediate_size: 8 };
      const { config, weights } = tinyModel({ max_position_embeddings: 1024, ...narrow, ...change });
      const model = { ...tinyModel(), config, weights };
      const prompt = Array.from({ length: 530 }, (_, t) => (t * t + 3 * t) % 7);
      const answers = [1, 3].map((answer) => Array.from({ length: 30 }, (_, t) => (t * answer) % 8));
      const { sequences } = batchOf([...answers.map((answer) => [...prompt, ...answer]), [1, 2, 3, 4]]);
      const trained = sequences.map((sequence) => ({
        ...sequence,
        mask: sequence.tokens.map((_, t) =>
          t > 0 && (t < 4 ? sequence.tokens.length === 4 : t > 515) ? 1 : 0,
        ),
      }));
      const { expected, result, gap } = await compare(model, { sequences: trained }, crossEntropy);
      expect(gap).toBeLessThan(1e-5);
      expect(Math.abs(result.loss - expected.loss)).toBeLessThan(1e-5);
    },
    120_000,
  );
});

describe('stories260k on TensorFlow.js', () => {
  it('has the gradients and AdamW losses of PyTorch, and the gradients of the ONNX backend', async () => {
    const golden = JSON.parse(readFileSync(`${stories}/train_golden.json`, 'utf8')) as StoriesGolden;
    const { tolerance_float32: tolerance, adamw_losses } = golden;
    const batch = batchOf(golden.batch_ids);
    const { backend, result, gradients, gap } = await compare(await loadModel(stories), batch, crossEntropy);
    expect(Math.abs(result.loss - golden.loss)).toBeLessThan(tolerance.loss);
    expectGolden(gradients, golden, tolerance.grad_norm_rel);
    expect(gap).toBeLessThan(2e-5);
    // One of the six recorded updates. Plain TensorFlow.js takes a second for each.
    await backend.optimStep();
    const { loss } = await backend.forwardBackward(batch, crossEntropy);
    expect(Math.abs(loss - adamw_losses[1]!)).toBeLessThan(tolerance.losses);
  }, 120_000);
});
