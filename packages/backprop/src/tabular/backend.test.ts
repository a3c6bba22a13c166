import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Loss, TrainingError } from '@rlp/core';
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

  it('drops a gradient of which one number is not finite, and keeps its weights', async () => {
    const backend = new TabularBackend({ vocabularySize: 3, optimizer: 'sgd', learningRate: 1 });
    const before = await backend.getWeights();
    // The square root of 0 is finite, its slope is not.
    const rooted: Loss = {
      key: 'rooted',
      columns: ['scale'],
      compute: (ops, { logprobs, columns }) => ({
        tokenLosses: ops.sqrt(ops.mul(logprobs, columns.scale!)),
      }),
    };
    const columns = { scale: [0, -1, 0] };
    const sequence = { tokens: [0, 1, 2], mask: [0, 1, 1], weights: [0, 1, 1], columns };
    const failed = backend.forwardBackward({ sequences: [sequence] }, rooted);
    await expect(failed).rejects.toThrow(TrainingError);
    await expect(failed).rejects.toThrow('the gradient of logprobs is not finite');
    await backend.optimStep();
    expect(await backend.getWeights()).toEqual(before);
  });

  it('takes exactly its own logits, and says what else came', async () => {
    const backend = new TabularBackend({ vocabularySize: 3 });
    const { shape } = (await backend.getWeights()).get('logits')!;
    const expected = `expected exactly logits [${shape.join(', ')}], got`;
    await expect(backend.loadWeights(new Map())).rejects.toThrow(`${expected} nothing`);
    const other = { shape: [2, 2], data: new Float32Array(4) };
    await expect(backend.loadWeights(new Map([['logits', other]]))).rejects.toThrow(
      `${expected} logits [2, 2]`,
    );
  });

  it('refuses the checkpoint of a table of another size', async () => {
    const directory = await checkpointDirectory();
    await new TabularBackend(shape).saveCheckpoint(directory);
    const other = new TabularBackend({ ...shape, contextTokens: 1 });
    await expect(other.loadCheckpoint(directory)).rejects.toThrow(
      'holds a policy of vocabulary 4 and 2 context tokens, this one has 4 and 1',
    );
  });

  it('names everything that is wrong with its options', () => {
    const wrong = { vocabularySize: 1, learningRate: -1, lr: 3 };
    expect(() => new TabularBackend(wrong)).toThrow(
      /vocabularySize: expected a number of at least 2[\s\S]*learningRate: expected[\s\S]*"lr"; in rlp this is learningRate/,
    );
    expect(() => new TabularBackend({ vocabularySize: 100, contextTokens: 4 })).toThrow(/contextTokens/);
  });
});
