import { describe, expect, it } from 'vitest';
import { longest, longestAnswers, longestPairs } from './largest-update.ts';

const side = (length: number) => ({
  tokens: new Array<number>(length).fill(length),
  mask: new Uint8Array(length).fill(1),
});

describe('the largest update', () => {
  it('has the longest of what a stage learns from', () => {
    expect(longest([3, 1, 4, 1, 5], 2, (item) => item)).toEqual([5, 4]);
    expect(longest([3], 2, (item) => item)).toEqual([3]);
  });

  it('has both sides of the longest pairs, in one row', () => {
    const pairs = [2, 9, 5].map((length) => ({ chosen: side(length), rejected: side(10 - length) }));
    const { sequences, sequencesPerRow } = longestPairs(pairs, { pairsPerBatch: 2 });
    expect(sequences.map(({ tokens }) => tokens.length)).toEqual([9, 1, 2, 8]);
    expect(sequencesPerRow).toBe(2);
  });

  it('has answers that share the prompt of their task and nothing else', () => {
    const { sequences } = longestAnswers({ tasks: 2, answers: 6, maxTokens: 3, contextLength: 99 });
    expect(sequences.map(({ mask }) => Array.from(mask).join(''))).toEqual(new Array(6).fill('000111'));
    const parts = sequences.map(({ tokens }) => [tokens.slice(0, 3).join(), tokens.slice(3).join()]);
    expect(new Set(parts.map(([prompt]) => prompt)).size).toBe(2);
    expect(new Set(parts.map(([, answer]) => answer)).size).toBe(6);
  });

  it('has no answer beyond the context', () => {
    const { sequences } = longestAnswers({ tasks: 1, answers: 1, maxTokens: undefined, contextLength: 7 });
    expect(Array.from(sequences[0]!.mask)).toEqual([0, 0, 0, 0, 1, 1, 1]);
  });
});
