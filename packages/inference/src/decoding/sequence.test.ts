import { SamplerError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { reportingTemperature, Sequence, type SequenceRequest } from './sequence.ts';

const request: SequenceRequest = {
  ...{ prompt: [1, 2, 3, 1, 2], count: 1, maxTokens: 9, seed: 'seed', stopTokens: [0] },
  ...{ temperature: 1, repetitionPenalty: 1, topK: 0, topP: 1, minP: 0 },
};
const sequence = (change: Partial<SequenceRequest> = {}, contextLength = 100) =>
  new Sequence({ ...request, ...change }, 0, contextLength);

describe('Sequence', () => {
  it('guesses what it said before, one token less than the budget has left', () => {
    expect(sequence().guess(3)).toEqual([3, 1, 2]);
    expect(sequence({ maxTokens: 3 }).guess(3)).toEqual([3, 1]);
    expect(sequence({ maxTokens: 2 }).guess(3)).toEqual([3]);
    expect(sequence({ maxTokens: 1 }).guess(3)).toEqual([]);
    expect(sequence({}, 7).guess(3)).toEqual([3]);
    const begun = sequence({ maxTokens: 3 });
    begun.take(3, 0.5);
    expect(begun.guess(3)).toEqual([1]);
  });

  it('guesses twice as many tokens after a right guess, and as many as were right of another, at least one', () => {
    const own = sequence({ maxTokens: 50 });
    own.learn({ guessed: 2, right: 2 });
    expect(own.guess(10)).toHaveLength(4);
    own.learn({ guessed: 4, right: 3 });
    expect(own.guess(10)).toHaveLength(3);
    own.learn({ guessed: 3, right: 0 });
    expect(own.guess(10)).toHaveLength(1);
  });

  it('has computed its prompt and all of its tokens but the last', () => {
    const own = sequence();
    expect(own.cachedLength).toBe(5);
    own.take(4, 0.5);
    expect([own.cachedLength, own.lastToken]).toEqual([5, 4]);
    own.take(6, 0.5);
    expect([own.cachedLength, own.lastToken]).toEqual([6, 6]);
  });

  it('ends at a stop token, at its budget and at the end of the context', () => {
    const reasons = (own: Sequence, tokens: readonly number[]) =>
      tokens.map((token) => {
        own.take(token, 0.5);
        return own.stopReason;
      });
    expect(reasons(sequence(), [4, 0])).toEqual([undefined, 'stop']);
    expect(reasons(sequence({ maxTokens: 2 }), [4, 5])).toEqual([undefined, 'length']);
    expect(reasons(sequence({ maxTokens: 2 }), [4, 0])).toEqual([undefined, 'stop']);
    expect(reasons(sequence({}, 6), [4])).toEqual(['length']);
  });

  it('reports no logprob above 0, and refuses probabilities that are none', () => {
    const own = sequence();
    own.take(4, 1 + 1e-7);
    own.take(4, 0.25);
    expect(own.logprobs).toEqual([0, Math.log(0.25)]);
    for (const probability of [0, Number.NaN]) {
      expect(() => own.take(5, probability)).toThrow(SamplerError);
      expect(() => own.take(5, probability)).toThrow('not finite after 7 tokens; its weights have diverged');
    }
    expect(own.tokens).toEqual([4, 4]);
  });

  it('penalizes tokens of its prompt and its own, if it has a penalty and logits', () => {
    const logits = Float32Array.of(0, 3, 0, 0, 2);
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const probabilities = logits.map((logit) => Math.exp(logit) / total);
    const drawn = (repetitionPenalty: number, given: Float32Array | undefined) => {
      const own = sequence({ repetitionPenalty, temperature: 0 });
      for (let t = 0; t < 2; t++) own.advance({ probabilities, logits: given }, new Float32Array(5));
      return own.tokens;
    };
    expect(drawn(1, logits)).toEqual([1, 1]);
    expect(drawn(2, undefined)).toEqual([1, 1]);
    // 3 / 2 is less than 2. Then 4 was seen too, and 2 / 2 is less than 3 / 2.
    expect(drawn(2, logits)).toEqual([4, 1]);
  });

  it('reports logprobs at its temperature, greedy ones at 1', () => {
    expect([0, 0.5, 1].map(reportingTemperature)).toEqual([1, 0.5, 1]);
  });
});
