import { OptionsError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import {
  accuracyReward,
  fluencyReward,
  keywordReward,
  lengthReward,
  perplexityReward,
} from './text-components.ts';

const words = (count: number) => Array.from({ length: count }, (_, k) => `w${k}`).join(' ');

// Expected values are worked out on paper from the formulas of textpolicy's basic.py.
describe('lengthReward', () => {
  it.each([
    [0, 0],
    [39, 1 - (0.22 - 0.2) / 0.8],
    [40, 1],
    [50, 1],
    [60, 1],
    [75, 1 - (0.5 - 0.2) / 0.8],
    [100, 0],
    [200, 0],
  ])('of %i words is %d', (count, reward) => {
    expect(lengthReward(words(count))).toBeCloseTo(reward, 12);
  });

  it('takes another target and tolerance, even one that divides by nothing', () => {
    expect(lengthReward('a b c d', { targetLength: 2, tolerance: 0.5 })).toBe(0);
    expect(lengthReward('a b c', { targetLength: 2, tolerance: 0.5 })).toBe(1);
    expect(lengthReward(words(9), { targetLength: 2, tolerance: 1 })).toBe(0);
  });
});

describe('keywordReward', () => {
  const keywords = ['quantum', 'computer', 'algorithm'];

  it('counts substrings, case not counting, with a bonus for what the prompt does not say', () => {
    const response = 'QUANTUM computers';
    // 2 of 3 found; of those that the prompt lacks (computer, algorithm) one: 2/3 + 1/2, capped at 1.
    expect(keywordReward({ prompt: 'Explain quantum computing', response }, { keywords })).toBe(1);
    expect(
      keywordReward({ prompt: 'Explain quantum computing', response }, { keywords, bonusMultiplier: 0.5 }),
    ).toBeCloseTo(2 / 3 + 0.25, 12);
    const all = 'quantum computer algorithm';
    expect(keywordReward({ prompt: all, response: 'an algorithm' }, { keywords })).toBeCloseTo(1 / 3, 12);
  });

  it('is 0 without keywords or words', () => {
    expect(keywordReward({ prompt: '', response: 'x' }, { keywords: [] })).toBe(0);
    expect(keywordReward({ prompt: '', response: ' \t' }, { keywords: [' '] })).toBe(0);
  });
});

describe('fluencyReward', () => {
  it.each([
    ['', 0],
    ['one two', 0.2],
    ['the the the the the the', 1 / 6],
    ['a b c d e f g h i j', 0.8],
    ['a b c d e f g h i j.', 1],
    [`${'x'.repeat(30)} ${'y'.repeat(30)} z`, 0.3],
    // 3 words with a mean of 10 code points each (characters outside the basic plane are one).
    [`${'😀'.repeat(10)} ${'🎉'.repeat(10)} ${'é'.repeat(10)}`, 0.8],
  ])('of %j is %d', (response, reward) => {
    expect(fluencyReward(response)).toBeCloseTo(reward, 12);
  });
});

describe('perplexityReward', () => {
  it('falls from 1 to 0 between certainty and the largest perplexity', () => {
    expect([1, 50.5, 100, 1000].map((value) => perplexityReward(value))).toEqual([1, 0.5, 0, 0]);
    expect(perplexityReward(3, { maxPerplexity: 5 })).toBe(0.5);
  });
});

describe('accuracyReward', () => {
  it('is the share of the reference that is there, over the threshold', () => {
    const reference = 'Paris is the capital of France.';
    expect(accuracyReward('It is PARIS, the capital of france.', { reference })).toBe(1);
    // paris, is: 2 of 6.
    expect(accuracyReward('Paris is', { reference })).toBeCloseTo(2 / 6 / 0.7, 12);
    expect(accuracyReward('Paris is', { reference, similarityThreshold: 0.3 })).toBe(1);
    expect(accuracyReward('Paris', { reference: ' ' })).toBe(0.5);
    expect(accuracyReward('It is "Paris".', { reference: 'paris' })).toBe(1);
    expect(accuracyReward('It is "Paris".', { reference: 'paris', punctuation: 'counted' })).toBe(0);
    expect(accuracyReward('It is -5.', { reference: '5' })).toBe(0);
    expect(accuracyReward('Yes !', { reference: '!' })).toBe(1);
    expect(accuracyReward('  ', { reference })).toBe(0);
  });

  it('takes off 0.2 for each kind of hedging where there is no reference, down to 0.3', () => {
    expect(accuracyReward('It is so.')).toBe(1);
    expect(accuracyReward('Maybe, maybe; I think so.')).toBeCloseTo(0.6, 12);
    expect(accuracyReward('perhaps possibly maybe not sure, could be')).toBe(0.3);
  });
});

it('refuses options that would give NaN, or rewards above 1', () => {
  const text = { prompt: '', response: 'a' };
  const bad = [
    () => lengthReward('a', { targetLength: 0 }),
    () => lengthReward('a', { tolerance: 1.5 }),
    () => keywordReward(text, { keywords: ['a'], bonusMultiplier: Number.NaN }),
    () => keywordReward(text, { keywords: [''] }),
    () => perplexityReward(2, { maxPerplexity: 1 }),
    () => accuracyReward('a', { reference: 'a', similarityThreshold: Number.NaN }),
  ];
  for (const call of bad) expect(call).toThrow(OptionsError);
});
