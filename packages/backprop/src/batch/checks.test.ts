import { ArgumentError, type Loss, TrainingError, type TrainingSequence } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { checkGradient, lossError, overflowError } from './not-finite.ts';
import { validateBatch, validateTokens } from './packing-validation.ts';

const limits = { vocabularySize: 5, contextLength: 4 };
const loss: Loss = {
  key: 'loss',
  columns: ['advantages'],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
const row = (change: Partial<TrainingSequence> = {}): TrainingSequence => ({
  ...{ tokens: [0, 1, 4], mask: [0, 1, 1], weights: [0, 1, 1], columns: { advantages: [0, 1, 1] } },
  ...change,
});

describe('validateBatch', () => {
  it('takes the longest sequence, the last token, and anything where the mask is 0', () => {
    const odd = { mask: [0, 0, 0], weights: [0, Number.NaN, 1], columns: { advantages: [0, 1, Infinity] } };
    const full = { tokens: [0, 1, 4, 4], mask: [0, 1, 1, 1], weights: [0, 1, 1, 1] };
    validateBatch(
      { sequences: [row(), row(odd), row({ ...full, columns: { advantages: [0, 1, 1, 1] } })] },
      loss,
      limits,
    );
  });

  it.each<[Partial<TrainingSequence>, string]>([
    [{ tokens: [] }, 'sequences[0].tokens is empty, expected at least one token'],
    [{ tokens: [0, 1, 2, 3, 4] }, "sequences[0] has 5 tokens, the model's context holds 4"],
    [{ tokens: [0, 5, 1] }, 'sequences[0].tokens[1] is 5, expected an id below 5'],
    [{ tokens: [0, 1, -1] }, 'sequences[0].tokens[2] is -1'],
    [{ tokens: [0.5, 1, 2] }, 'sequences[0].tokens[0] is 0.5'],
    [{ mask: [0, 1] }, 'sequences[0].mask has length 2, expected 3 as tokens'],
    [{ weights: [0, 1, 1, 1] }, 'sequences[0].weights has length 4, expected 3 as tokens'],
    [{ weights: undefined as never }, 'sequences[0].weights is missing; the loss "loss" reads it'],
    [{ columns: {} }, 'sequences[0].columns.advantages is missing; the loss "loss" reads it'],
    [{ columns: { advantages: [1] } }, 'sequences[0].columns.advantages has length 1'],
    [{ mask: [0, 2, 1] }, 'sequences[0].mask[1] is 2, expected 0 or 1'],
    [{ mask: [1, 1, 1] }, 'sequences[0].mask[0] is 1, but nothing predicts the first token'],
    [{ weights: [0, 1, Number.NaN] }, 'sequences[0].weights[2] is NaN, expected a finite number'],
    [{ columns: { advantages: [0, -Infinity, 1] } }, 'sequences[0].columns.advantages[1] is -Infinity'],
    [{ temperature: 0 }, 'temperature must be positive and finite, got 0'],
    [{ temperature: Number.POSITIVE_INFINITY }, 'temperature must be positive and finite, got Infinity'],
  ])('refuses %o', (change, message) => {
    const validating = () => validateBatch({ sequences: [row(change)] }, loss, limits);
    expect(validating).toThrow(ArgumentError);
    expect(validating).toThrow(`forwardBackward: invalid batch\n  - ${message}`);
  });

  it('names the first ten problems, and how many more there are', () => {
    const problems = (count: number) => {
      const sequences = Array.from({ length: count }, () => row({ tokens: [9, 0, 0] }));
      try {
        validateBatch({ sequences }, loss, limits);
      } catch (error) {
        return (error as Error).message.split('\n  - ').slice(1);
      }
      return [];
    };
    expect(problems(10)).toHaveLength(10);
    expect(problems(10).at(-1)).toMatch(/^sequences\[9\]/);
    expect(problems(12)).toHaveLength(11);
    expect(problems(12).at(-1)).toBe('and 2 more');
  });

  it('refuses no sequences, several temperatures and rows that are not whole', () => {
    expect(() => validateBatch({ sequences: [] }, loss, limits)).toThrow(
      'the batch is empty, expected at least one sequence',
    );
    const mixed = [row(), row({ temperature: 2 }), row({ temperature: 1 })];
    expect(() => validateBatch({ sequences: mixed }, loss, limits)).toThrow(
      'all sequences must have one temperature, got 1, 2',
    );
    const pairs = { ...loss, sequencesPerRow: 2 };
    validateBatch({ sequences: [row(), row()] }, pairs, limits);
    expect(() => validateBatch({ sequences: [row()] }, pairs, limits)).toThrow(
      'there are 1 sequences, expected a multiple of 2, which the loss "loss" reads in a row',
    );
  });
});

describe('validateTokens', () => {
  it('names its caller, and masks that do not fit', () => {
    validateTokens('logprobs', [[0, 4]], limits, { temperature: 0.5, masks: [[0, 1]] });
    const scoring = { temperature: 0, masks: [[0]], sequencesPerRow: 3 };
    const validating = () => validateTokens('logprobs', [[0, 1], [5]], limits, scoring);
    expect(validating).toThrow(
      'logprobs: invalid batch\n  - temperature must be positive and finite, got 0\n  - there are 2 sequences, expected a multiple of 3, which sequencesPerRow puts in a row\n  - there are 1 masks, expected 2 as sequences\n  - masks[0] has length 1, expected 2 as tokens\n  - sequences[1].tokens[0] is 5, expected an id below 5',
    );
  });
});

describe('numbers that are not finite', () => {
  it('are named with their tensor', () => {
    checkGradient('w', Float32Array.of(1, 2));
    for (const index of [0, 1]) {
      const gradient = Float32Array.of(1, 2).with(index, Number.NaN);
      expect(() => checkGradient('w', gradient)).toThrow(TrainingError);
      expect(() => checkGradient('w', gradient)).toThrow(
        `forwardBackward: the gradient of "w" is not finite (element ${index} is NaN); lower the learning rate, clip gradients, or look for extreme values in the batch`,
      );
    }
    expect(lossError(Number.NaN).message).toBe(
      'forwardBackward: the loss is NaN, expected a finite number; look for extreme values in the batch. Weights are unchanged',
    );
    expect(overflowError().message).toMatch(
      /^forwardBackward: the norm of the gradient overflows; lower the weights/,
    );
  });
});
