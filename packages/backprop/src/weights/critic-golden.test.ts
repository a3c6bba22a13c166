import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Loss, TrainingSequence } from '@rlp/core';
import { loadModelConfig, loadWeights } from '@rlp/models';
import { readSafetensors } from '@rlp/models/safetensors';
import { describe, expect, it } from 'vitest';
import { inlineBackends } from '../testing/inline-backends.ts';
import { tinyModel } from '../testing/tiny-model.ts';
import { readValueHead } from './read-value-head.ts';

const folder = fileURLToPath(new URL('../../fixtures/testdata/critic', import.meta.url));

interface Row {
  readonly tokens: number[];
  readonly mask: number[];
  readonly weights: number[];
  readonly returns: number[];
  readonly advantages: number[];
}

/** Computed by PyTorch in float64. See `fixtures/critic.py`. */
const golden = JSON.parse(readFileSync(`${folder}/golden.json`, 'utf8')) as {
  readonly batch: readonly Row[];
  readonly values: readonly number[][];
  readonly value: { readonly loss: number; readonly norm: number };
  readonly both: { readonly losses: readonly number[]; readonly norms: readonly number[] };
};

const sequences = golden.batch.map(
  ({ tokens, mask, weights, returns, advantages }): TrainingSequence => ({
    tokens,
    mask,
    weights,
    columns: { returns, advantages },
  }),
);

const squaredError: Loss = {
  key: 'squared-error',
  columns: ['returns'],
  values: 'only',
  compute: (ops, { values, columns }) => ({ tokenLosses: ops.square(ops.sub(values!, columns.returns!)) }),
};

const both: Loss = {
  key: 'both',
  columns: ['returns', 'advantages'],
  values: 'needed',
  compute: (ops, { logprobs, values, columns }) => {
    const error = ops.square(ops.sub(values!, columns.returns!));
    const surrogate = ops.mul(columns.advantages!, logprobs);
    return { tokenLosses: ops.sub(ops.mul(error, ops.constant(0.5)), surrogate) };
  },
};

const backends = inlineBackends();

async function createCritic(tokensPerMicroBatch: number) {
  const config = await loadModelConfig(folder);
  const model = { ...tinyModel(), config, ...(await loadWeights(folder, config)) };
  return backends.create({ model, valueHead: await readValueHead(folder), tokensPerMicroBatch });
}

describe.each([64, 3])(
  'a critic that transformers saved, in micro-batches of %i tokens, as PyTorch computes it',
  (tokensPerMicroBatch) => {
    it('has its values', async () => {
      const { backend } = await createCritic(tokensPerMicroBatch);
      const values = await backend.values(golden.batch.map(({ tokens }) => tokens));
      for (const [row, expected] of golden.values.entries()) {
        expect([...values[row]!]).toEqual(expected.map((value) => expect.closeTo(value, 5)));
      }
      await backend.close();
    });

    it('has the gradient of every tensor, of head and trunk', async () => {
      const { backend, store } = await createCritic(tokensPerMicroBatch);
      const { loss } = await backend.forwardBackward({ sequences }, squaredError);
      expect(Math.abs(loss / golden.value.loss - 1)).toBeLessThan(1e-5);
      const gradients = await backends.engine.readStore(store, 'gradient');
      const expected = await readSafetensors(`${folder}/gradients.safetensors`);
      expect([...gradients.keys()].sort()).toEqual([...expected.keys()].sort());
      const allowed = 1e-5 * golden.value.norm;
      for (const [name, { data }] of expected) {
        const got = gradients.get(name)!.data;
        for (const [i, value] of data.entries()) {
          expect(Math.abs(got[i]! - value), `${name}[${i}]`).toBeLessThan(allowed);
        }
      }
      const { gradientNorm } = await backend.optimStep();
      expect(Math.abs(gradientNorm / golden.value.norm - 1)).toBeLessThan(1e-5);
      await backend.close();
    });

    it('has the losses and gradient norms of five updates of policy and critic on one trunk', async () => {
      const { backend } = await createCritic(tokensPerMicroBatch);
      for (const [update, expected] of golden.both.losses.entries()) {
        const { loss } = await backend.forwardBackward({ sequences }, both);
        expect(Math.abs(loss - expected), `loss ${update}`).toBeLessThan(1e-4);
        const { gradientNorm } = await backend.optimStep();
        const norm = golden.both.norms[update]!;
        expect(Math.abs(gradientNorm / norm - 1), `norm ${update}`).toBeLessThan(1e-4);
      }
      await backend.close();
    });
  },
);
