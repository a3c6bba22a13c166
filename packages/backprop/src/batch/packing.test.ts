import { ArgumentError, type Loss, type TrainingSequence } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packBatch, packSequences, unpack } from './packing.ts';

const loss: Loss = {
  key: 'test',
  columns: ['advantages'],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
const limits = { vocabularySize: 10, contextLength: 64, tokensPerMicroBatch: 64 };

const sequence: TrainingSequence = {
  tokens: [4, 5, 6],
  mask: [0, 0, 1],
  weights: [9, 9, 0.5],
  columns: { advantages: [Number.NaN, 7, 3] },
};

describe('packBatch', () => {
  it('shifts once: position t reads token t and carries what belongs to token t + 1', () => {
    const { microBatches, tokens, temperature } = packBatch({ sequences: [sequence] }, loss, limits);
    expect(microBatches).toEqual([
      {
        rows: 1,
        length: 2,
        members: [0],
        tokens: Int32Array.of(4, 5),
        targets: Int32Array.of(5, 6),
        mask: Float32Array.of(0, 1),
        weights: Float32Array.of(0, 0.5),
        columns: { advantages: Float32Array.of(0, 3) },
      },
    ]);
    expect(tokens).toEqual({ trained: 1, total: 3 });
    expect(temperature).toBe(1);
  });

  it('keeps every token exactly once within the budget, and unpack restores the order', () => {
    const batches = fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 64 }), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 300 }), (rows, tokensPerMicroBatch) => {
        const packed = packSequences(rows, 1, { ...limits, tokensPerMicroBatch });
        for (const { rows: count, length, members } of packed.microBatches) {
          expect(count * length <= tokensPerMicroBatch || count === 1).toBe(true);
          expect(members.length).toBe(count);
          expect(length).toBe(Math.max(...members.map((member) => rows[member]!.length - 1)));
        }
        const targets = packed.microBatches.map((micro) => Float32Array.from(micro.targets));
        const expected = rows.map((tokens) => Float32Array.from([0, ...tokens.slice(1)]));
        expect(unpack(packed, targets)).toEqual(expected);
      }),
    );
  });

  it('sums weights over micro-batches to the weights of trained tokens', () => {
    const sequences = [sequence, { ...sequence, mask: [0, 1, 1] }, sequence];
    const { microBatches } = packBatch({ sequences }, loss, { ...limits, tokensPerMicroBatch: 2 });
    expect(microBatches).toHaveLength(3);
    const total = microBatches
      .flatMap(({ weights }) => [...weights])
      .reduce((sum, weight) => sum + weight, 0);
    expect(total).toBe(0.5 + 9.5 + 0.5);
  });

  it('leaves sequences of one token out', () => {
    const packed = packSequences([[3]], 1, limits);
    expect(packed.microBatches).toEqual([]);
    expect(unpack(packed, [])).toEqual([Float32Array.of(0)]);
  });

  it('names every problem of a batch in one error', () => {
    const broken: TrainingSequence[] = [
      { ...sequence, mask: [0, 1] },
      { ...sequence, columns: {} },
      { ...sequence, tokens: [4, 10, 6], mask: [1, 0, 0] },
      { ...sequence, temperature: 0 },
      { ...sequence, columns: { advantages: [0, 0, Number.NaN] } },
      { ...sequence, weights: [0, 0, Number.POSITIVE_INFINITY] },
      { ...sequence, mask: [0, 0.5, 1] },
      { tokens: [], mask: [], weights: [], columns: { advantages: [] } },
    ];
    expect(() => packBatch({ sequences: broken }, loss, limits)).toThrow(
      new ArgumentError(
        [
          'forwardBackward: invalid batch',
          '  - all sequences must have one temperature, got 1, 0',
          '  - temperature must be positive and finite, got 0',
          '  - sequences[0].mask has length 2, expected 3 as tokens',
          '  - sequences[1].columns.advantages is missing; the loss "test" reads it',
          '  - sequences[2].tokens[1] is 10, expected an id below 10',
          '  - sequences[2].mask[0] is 1, but nothing predicts the first token',
          '  - sequences[4].columns.advantages[2] is NaN, expected a finite number',
          '  - sequences[5].weights[2] is Infinity, expected a finite number',
          '  - sequences[6].mask[1] is 0.5, expected 0 or 1',
          '  - sequences[7].tokens is empty, expected at least one token',
        ].join('\n'),
      ),
    );
  });

  it('rejects an empty batch and sequences beyond the context', () => {
    expect(() => packBatch({ sequences: [] }, loss, limits)).toThrow('the batch is empty');
    expect(() => packSequences([Array(65).fill(1)], 1, limits)).toThrow(
      "sequences[0] has 65 tokens, the model's context holds 64",
    );
  });
});
