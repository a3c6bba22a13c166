import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { requireFittingPrompt, requireScorable } from './requests.ts';

const limits = { tokenizer: { bosId: 1 }, contextLength: 4, vocabularySize: 10 };

describe('requireFittingPrompt', () => {
  it.each([
    [[], 'sample: the prompt is empty; begin it with the bos token 1'],
    [[1, 2, 3, 4], 'sample: the prompt has 4 tokens, but the context holds 4 and one must be left to sample'],
    [[1, 10], 'sample: token 10 is outside the vocabulary of 10 tokens; encode the text with this'],
    [[1, -1], 'sample: token -1 is outside'],
    [[1, 1.5], 'sample: token 1.5 is outside'],
  ])('refuses %o', (prompt, message) => {
    expect(() => requireFittingPrompt(limits, prompt)).toThrow(ArgumentError);
    expect(() => requireFittingPrompt(limits, prompt)).toThrow(message);
  });

  it('takes a prompt that leaves room for one token, and the last token of the vocabulary', () => {
    requireFittingPrompt(limits, [0, 1, 9]);
  });
});

describe('requireScorable', () => {
  it.each([
    [[], [1], 'scoreTokens: the prompt is empty, so the first token has nothing to be predicted from'],
    [[1, 2], [3, 4, 5], 'scoreTokens: prompt and completion have 5 tokens together, but the context holds 4'],
    [[10], [1], 'scoreTokens: token 10 is outside'],
    [[1], [10], 'scoreTokens: token 10 is outside'],
  ])('refuses %o with %o', (prompt, completion, message) => {
    expect(() => requireScorable(limits, [{ prompt, completion }])).toThrow(message);
  });

  it('takes what fills the context, at any temperature that float32 can divide by', () => {
    const fitting = [{ prompt: [1], completion: [2, 3, 4] }];
    requireScorable(limits, fitting);
    requireScorable(limits, fitting, 1e-5);
    for (const temperature of [0, 9e-6, -1, Number.NaN]) {
      expect(() => requireScorable(limits, fitting, temperature)).toThrow(
        `scoreTokens: temperature must be at least 0.00001, got ${temperature}`,
      );
    }
  });
});
