import { describe, expect, it } from 'vitest';
import { lookUp } from './prompt-lookup.ts';

describe('lookUp', () => {
  it('guesses what followed the last occurrence of the last three tokens', () => {
    expect(lookUp([1, 2, 3, 4, 5, 1, 2, 3, 6, 7, 1, 2, 3], 2)).toEqual([6, 7]);
  });

  it('prefers a repeat of three tokens to a later one of two', () => {
    expect(lookUp([1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3], 1)).toEqual([4]);
  });

  it('falls back to a repeat of two tokens', () => {
    expect(lookUp([8, 2, 3, 5, 6, 1, 2, 3], 2)).toEqual([5, 6]);
  });

  it('goes on with the guess itself where the text ends', () => {
    expect(lookUp([1, 2, 1, 2, 1], 5)).toEqual([2, 1, 2, 1, 2]);
    expect(lookUp([7, 7, 7], 3)).toEqual([7, 7, 7]);
  });

  it('guesses nothing if the text does not repeat itself', () => {
    expect(lookUp([1, 2, 3, 1], 4)).toEqual([]);
    expect(lookUp([], 4)).toEqual([]);
  });
});
