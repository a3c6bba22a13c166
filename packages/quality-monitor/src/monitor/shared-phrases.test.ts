import { describe, expect, it } from 'vitest';
import { sharedPhrases } from './shared-phrases.ts';

describe('sharedPhrases', () => {
  const others = ['the sum is four', 'the sum is nine', 'it is ten'];

  it('names what suspects share and others lack, the longest phrase for its parts', () => {
    const suspects = ['As the wise Grader knows the sum is 4', 'as the wise grader knows it is 9'];
    expect(sharedPhrases(suspects, others)).toEqual(['the wise grader knows', 'as the wise grader']);
  });

  it('names nothing where suspects share what all responses have, or there is one suspect only', () => {
    expect(sharedPhrases(['the sum is two', 'the sum is one'], others)).toEqual([]);
    expect(sharedPhrases(['wise grader'], others)).toEqual([]);
    expect(sharedPhrases([], [])).toEqual([]);
  });
});
