import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Loss } from '@rlp/core';
import { describeCriticBackend, describeFullBackend } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import { TabularBackend } from './backend.ts';

const shape = { vocabularySize: 4, contextTokens: 2, initialScale: 1 } as const;
const checkpointDirectory = async () => join(await mkdtemp(join(tmpdir(), 'rlp-tabular-')), 'checkpoint');

describeFullBackend('tabular', {
  create: async () => new TabularBackend(shape),
  checkpointDirectory,
  tolerance: 1e-5,
});

describeCriticBackend('tabular', {
  create: async () => new TabularBackend({ ...shape, valueHead: 'linear' }),
  createWithoutHead: async () => new TabularBackend(shape),
  checkpointDirectory,
  tolerance: 1e-5,
});

const entropyAndLogprob: Loss = {
  key: 'entropy-and-logprob',
  columns: [],
  entropies: 'needed',
  compute: (ops, { logprobs, entropies }) => ({
    tokenLosses: ops.add(ops.square(logprobs), ops.mul(ops.constant(0.3), entropies!)),
  }),
};

describe('TabularBackend', () => {
  it('has the gradient of central differences, through entropies and temperature', async () => {
    const options = { vocabularySize: 3, contextTokens: 1, initialScale: 1 } as const;
    const batch = {
      sequences: [
        { tokens: [0, 2, 1, 1], mask: [0, 1, 1, 1], weights: [0, 1, 0.5, 2], columns: {}, temperature: 0.7 },
      ],
    };
    const learner = new TabularBackend({ ...options, optimizer: 'sgd', learningRate: 1 });
    const before = (await learner.getWeights()).get('logits')!;
    await learner.forwardBackward(batch, entropyAndLogprob);
    await learner.optimStep();
    const after = (await learner.getWeights()).get('logits')!;

    const probe = new TabularBackend(options);
    const lossAt = async (cell: number, by: number) => {
      const data = before.data.slice();
      data[cell]! += by;
      await probe.loadWeights(new Map([['logits', { shape: before.shape, data }]]));
      return (await probe.forwardBackward(batch, entropyAndLogprob)).loss;
    };
    for (let cell = 0; cell < before.data.length; cell++) {
      const slope = ((await lossAt(cell, 2 ** -8)) - (await lossAt(cell, -(2 ** -8)))) / 2 ** -7;
      expect(before.data[cell]! - after.data[cell]!).toBeCloseTo(slope, 4);
    }
  });

  it('moves the value of each state by the gradient of the loss, which is that on paper', async () => {
    const options = { vocabularySize: 3, optimizer: 'sgd', learningRate: 1, valueHead: 'linear' } as const;
    const learner = new TabularBackend(options);
    const squaredError: Loss = {
      key: 'squared-error',
      columns: ['returns'],
      values: 'only',
      compute: (ops, { values, columns }) => ({
        tokenLosses: ops.square(ops.sub(values!, columns.returns!)),
      }),
    };
    const tokens = [0, 2, 0, 1];
    const columns = { returns: [9, 1, 2, 4] };
    const batch = { sequences: [{ tokens, mask: [0, 1, 1, 1], weights: [0, 0.25, 0.5, 0.125], columns }] };
    await learner.forwardBackward(batch, squaredError);
    await learner.optimStep();
    // V(0) precedes tokens 1 and 3: 2·(0.25·1 + 0.125·4) = 1.5; V(2) precedes token 2: 2·0.5·2 = 2; V(1) nothing.
    expect([...(await learner.values([[0, 1, 2]]))[0]!]).toEqual([0, 1.5, 0, 2]);
  });

  it('names everything that is wrong with its options', () => {
    expect(() => new TabularBackend({ vocabularySize: 1, learningRate: -1 })).toThrow(/learningRate/);
    expect(() => new TabularBackend({ vocabularySize: 100, contextTokens: 4 })).toThrow(/contextTokens/);
  });
});
