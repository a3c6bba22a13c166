import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArgumentError, type Loss, TrainingError } from '@rlp/core';
import { describeCriticBackend, describeFullBackend } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import { TabularBackend } from './backend.ts';
import { LogitsTable } from './table.ts';

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

  it('drops the gradient of earlier passes when a loss throws, so that the next update has none of it', async () => {
    const backend = new TabularBackend({ vocabularySize: 3, optimizer: 'sgd', learningRate: 1 });
    const before = await backend.getWeights();
    const sequence = { tokens: [0, 1, 2], mask: [0, 1, 1], weights: [0, 1, 1], columns: {} };
    await backend.forwardBackward({ sequences: [sequence] }, entropyAndLogprob);
    const broken: Loss = {
      key: 'broken',
      columns: [],
      compute: () => {
        throw new Error('of the loss');
      },
    };
    await expect(backend.forwardBackward({ sequences: [sequence] }, broken)).rejects.toThrow('of the loss');
    expect((await backend.optimStep()).gradientNorm).toBe(0);
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
    expect(() => new TabularBackend({ vocabularySize: 3, weight_decay: 0.1 } as never)).toThrow(
      'Unrecognized option "weight_decay"; in rlp this is optimizer.weightDecay, which is no option here',
    );
    for (const name of ['precision', 'fp16']) {
      expect(() => new TabularBackend({ vocabularySize: 3, [name]: 'mixed' } as never)).toThrow(
        `Unrecognized option "${name}"; use createOnnxBackend of @rlp/backprop`,
      );
    }
    const wrong = { vocabularySize: 1, learningRate: -1, lr: 3 };
    expect(() => new TabularBackend(wrong)).toThrow(
      /vocabularySize: expected a number of at least 2[\s\S]*learningRate: expected[\s\S]*"lr"; in rlp this is learningRate/,
    );
    expect(() => new TabularBackend({ vocabularySize: 100, contextTokens: 4 })).toThrow(/contextTokens/);
  });
});

describe('a table', () => {
  const nll: Loss = {
    key: 'nll',
    columns: ['a'],
    compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
  };
  const row = { tokens: [0, 1], mask: [0, 1], weights: [0, 1], columns: { a: [0, 1] } };

  it('has at most 2^24 cells', () => {
    expect(() => new LogitsTable({ vocabularySize: 1 })).toThrow(
      /^tabular policy: invalid options[\s\S]*vocabularySize/,
    );
    const sizes = (vocabularySize: number, contextTokens: number) => () =>
      new TabularBackend({ vocabularySize, contextTokens });
    expect(sizes(4096, 1)).toThrow(
      'contextTokens: must keep (vocabularySize + 1)^contextTokens · vocabularySize ≤ 2^24',
    );
    // 17^3 rows of 16, and 257^3 rows of 256.
    expect(sizes(16, 3)().table.logits).toHaveLength(17 ** 3 * 16);
    expect(sizes(256, 3)).toThrow('contextTokens');
  });

  it.each<[object, string]>([
    [{ mask: undefined }, 'mask must hold one number per token, got undefined for 2 tokens'],
    [{ weights: null }, 'weights must hold one number per token, got null for 2 tokens'],
    [{ mask: [0] }, 'mask must hold one number per token, got 1 for 2 tokens'],
    [{ weights: [0, 1, 1] }, 'weights must hold one number per token, got 3 for 2 tokens'],
    [{ columns: { a: [0, 1, 2] } }, 'a must hold one number per token, got 3 for 2 tokens'],
    [{ columns: {} }, 'loss "nll" needs the columns a; add them'],
    [{ mask: [1, 1] }, 'mask[0] must be 0, the first token has no logprob'],
    [{ mask: [0, 0.5] }, 'mask[1] must be 0 or 1, got 0.5'],
    [{ mask: [false, true] }, 'mask[0] must be 0 or 1, got false'],
    [{ tokens: [0, 4] }, 'token 4 at position 1 is outside the vocabulary of 4'],
  ])('refuses %o', async (change, message) => {
    const backend = new TabularBackend(shape);
    const sequences = [row, { ...row, ...change }];
    await expect(backend.forwardBackward({ sequences }, nll)).rejects.toThrow(
      `forwardBackward: sequence 1: ${message}`,
    );
  });

  it.each<[unknown, unknown, string]>([
    [[row], nll, 'expected a batch { sequences: [ … ] }, got a list'],
    [{ sequences: [row] }, undefined, 'expected a loss after the batch, got undefined'],
    [
      { sequences: [{ tokens: [0, 1] }] },
      nll,
      'expected sequences { tokens, mask, weights, columns }, got an object with tokens at 0',
    ],
  ])('refuses what is no batch: %o', async (batch, loss, problem) => {
    await expect(new TabularBackend(shape).forwardBackward(batch as never, loss as never)).rejects.toThrow(
      `forwardBackward: ${problem}`,
    );
  });

  it('refuses no sequences, mixed temperatures, and losses of a critic that it lacks', async () => {
    const backend = new TabularBackend(shape);
    await expect(backend.forwardBackward({ sequences: [] }, nll)).rejects.toThrow(
      'forwardBackward: the batch must hold a sequence, got none',
    );
    await expect(
      backend.forwardBackward({ sequences: [row, { ...row, temperature: 2 }] }, nll),
    ).rejects.toThrow('forwardBackward: all sequences of a batch must have the same temperature');
    await backend.forwardBackward({ sequences: [row, { ...row, temperature: 1 }] }, nll);
    const empty = { tokens: [], mask: [], weights: [], columns: { a: [] } };
    expect((await backend.forwardBackward({ sequences: [row, empty] }, nll)).tokens).toEqual({
      trained: 1,
      total: 2,
    });
    const critic: Loss = { ...nll, key: 'critic', values: 'needed' };
    await expect(backend.forwardBackward({ sequences: [row] }, critic)).rejects.toThrow(
      'forwardBackward: the loss "critic" reads the values of a critic, and this backend has none',
    );
    await expect(backend.publish({ as: 'adapter', directory: 'x' })).rejects.toThrow(
      "publish: a table is published as 'shared' only, got adapter; use { as: 'shared' }",
    );
  });

  it('names each backend apart, and is published as it was', async () => {
    const [one, other] = [new TabularBackend(shape), new TabularBackend(shape)];
    expect(one.store).toMatch(/^tabular-\d+$/);
    expect(one.store).not.toBe(other.store);
    expect(one.shares).toEqual({ engine: one, store: one.store });
    const initial = one.table.logits.slice();
    await one.forwardBackward({ sequences: [row] }, nll);
    await one.optimStep();
    expect(one.table.logits).not.toEqual(initial);
    expect(one.published).toEqual({ version: 0, logits: initial });
    await one.publish({ as: 'shared' });
    expect(one.published).toEqual({ version: 1, logits: one.table.logits });
    await one.forwardBackward({ sequences: [row] }, nll);
    await one.optimStep();
    expect(one.published.logits).not.toEqual(one.table.logits);
  });

  it('takes steps of its learning rate with plain gradients, and of the same size with Adam', async () => {
    for (const optimizer of ['sgd', 'adam'] as const) {
      const backend = new TabularBackend({
        vocabularySize: 2,
        contextTokens: 0,
        optimizer,
        learningRate: 0.1,
      });
      await backend.forwardBackward({ sequences: [row] }, nll);
      expect(await backend.optimStep()).toMatchObject({ learningRate: 0.1, updates: 1 });
      // The gradient of both logits is a half.
      const step = optimizer === 'sgd' ? 0.05 : 0.1;
      expect([...backend.table.logits]).toEqual([expect.closeTo(-step, 6), expect.closeTo(step, 6)]);
    }
  });

  it('says which head a checkpoint has', async () => {
    const [bare, critic] = [new TabularBackend(shape), new TabularBackend({ ...shape, valueHead: 'linear' })];
    expect([bare.lacks, critic.lacks]).toEqual([['values'], []]);
    const [without, withHead] = [await checkpointDirectory(), await checkpointDirectory()];
    await bare.saveCheckpoint(without);
    await critic.saveCheckpoint(withHead);
    await expect(bare.loadCheckpoint(withHead)).rejects.toThrow(
      `loadCheckpoint: ${withHead} holds a value head, this backend has none; create it with valueHead: 'linear'`,
    );
    await expect(critic.loadCheckpoint(without)).rejects.toThrow(
      `loadCheckpoint: ${without} holds no value head, this backend has one; create it with valueHead: 'none'`,
    );
    const wider = new TabularBackend({ ...shape, vocabularySize: 5 });
    await expect(wider.loadCheckpoint(without)).rejects.toThrow(
      `loadCheckpoint: ${without} holds a policy of vocabulary 4 and 2 context tokens, this one has 5 and 2`,
    );
    const narrower = new TabularBackend({ ...shape, contextTokens: 1 });
    await expect(narrower.loadCheckpoint(without)).rejects.toThrow('this one has 4 and 1');
  });

  it('takes weights of its shape only', async () => {
    const backend = new TabularBackend(shape);
    const logits = (await backend.getWeights()).get('logits')!;
    await expect(backend.loadWeights(new Map())).rejects.toThrow(
      'loadWeights: expected exactly logits [25, 4], got nothing',
    );
    const both = new Map([
      ['logits', logits],
      ['more', { shape: [1, 2], data: Float32Array.of(0, 0) }],
    ]);
    await expect(backend.loadWeights(both)).rejects.toThrow('got logits [25, 4], more [1, 2]');
    const short = new Map([['logits', { ...logits, data: logits.data.slice(1) }]]);
    await expect(backend.loadWeights(short)).rejects.toThrow(ArgumentError);
    const turned = new Map([['logits', { ...logits, shape: [4, 25] }]]);
    await expect(backend.loadWeights(turned)).rejects.toThrow('got logits [4, 25]');
  });
});
