import { describe, expect, it } from 'vitest';
import { requireOnePolicy } from './dependencies.ts';

function check(tokens: number, model: number | undefined, samplers?: number) {
  const tokenizer = { vocabularySize: tokens };
  const sampler = { accepts: ['checkpoint'], tokenizer: { vocabularySize: samplers } };
  const parts = { backend: { vocabularySize: model }, sampler, tokenizer, publications: 'weights' };
  requireOnePolicy('Own', parts as unknown as Parameters<typeof requireOnePolicy>[1]);
}

describe('requireOnePolicy', () => {
  it.each([
    [10, 10],
    [10, 138],
    [1000, 2000],
    [10, undefined],
  ])('takes a tokenizer of %d tokens for a model of %s, which may be filled up', (tokens, model) => {
    expect(() => check(tokens, model)).not.toThrow();
  });

  it.each([
    [10, 9],
    [10, 139],
    [1000, 2001],
  ])('refuses a tokenizer of %d tokens for a model of %d', (tokens, model) => {
    expect(() => check(tokens, model)).toThrow(`\`tokenizer\` has ${tokens} tokens and the model ${model}`);
  });

  it("refuses another tokenizer than the sampler's", () => {
    expect(() => check(10, 10, 11)).toThrow("`tokenizer` has 10 tokens and the sampler's has 11");
    expect(() => check(10, 10, 10)).not.toThrow();
  });
});
