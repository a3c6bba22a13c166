import { describe, expect, it } from 'vitest';
import { ArgumentError } from './errors.ts';
import { tokenSequences } from './token-sequence.ts';

describe('tokenSequences', () => {
  it('says which turn chose each token', () => {
    const turns = [
      { promptTokens: [1], tokens: [2], behaviorLogprobs: [-0.5] },
      { promptTokens: [1, 2, 3], tokens: [4], behaviorLogprobs: [-0.25] },
    ];
    const [sequence, ...others] = tokenSequences(turns);
    expect(others).toEqual([]);
    expect(sequence).toEqual({
      tokens: [1, 2, 3, 4],
      mask: Uint8Array.of(0, 1, 0, 1),
      behaviorLogprobs: Float64Array.of(0, -0.5, 0, -0.25),
      steps: Int32Array.of(-1, 0, -1, 1),
    });
  });

  it('keeps a turn that is only context, and does not train it', () => {
    const turns = [
      { promptTokens: [1], tokens: [2], behaviorLogprobs: [-0.5], use: 'context' },
      { promptTokens: [1, 2, 3], tokens: [4], behaviorLogprobs: [-0.25] },
    ] as const;
    expect(tokenSequences(turns)).toEqual([
      {
        tokens: [1, 2, 3, 4],
        mask: Uint8Array.of(0, 0, 0, 1),
        behaviorLogprobs: Float64Array.of(0, -0.5, 0, -0.25),
        steps: Int32Array.of(-1, 0, -1, 1),
      },
    ]);
  });

  it('does not train a token that was sampled from nothing', () => {
    const [sequence] = tokenSequences([{ promptTokens: [], tokens: [7, 8], behaviorLogprobs: [-1, -2] }]);
    expect([...(sequence?.mask ?? [])]).toEqual([0, 1]);
  });

  it('takes demonstrations, which nobody sampled', () => {
    const [sequence] = tokenSequences([{ promptTokens: [1], tokens: [2] }]);
    expect(sequence).toMatchObject({ mask: Uint8Array.of(0, 1), behaviorLogprobs: Float64Array.of(0, 0) });
  });

  it('refuses logprobs that are not one per token', () => {
    const turns = [{ promptTokens: [1], tokens: [2, 3], behaviorLogprobs: [-1] }];
    expect(() => tokenSequences(turns)).toThrow(
      new ArgumentError('tokenSequences: step 0 must hold one logprob per token, got 1 for 2 tokens'),
    );
  });
});
