import { describe, expect, it } from 'vitest';
import { PrefixCache } from './prefix-cache.ts';

/** A row of a decoder whose keys and values are its tokens. */
function cacheOf(blocks: number) {
  let row: number[] = [];
  const cache = new PrefixCache(
    {
      positionBytes: Float32Array.BYTES_PER_ELEMENT,
      saveRow: (_, from, data) => data.set(row.slice(from, from + data.length)),
      loadRow: (_, from, data) => row.splice(from, data.length, ...data),
    },
    { bytes: blocks * 2 * Float32Array.BYTES_PER_ELEMENT, blockTokens: 2 },
  );
  return {
    cache,
    keep(tokens: readonly number[]) {
      row = [...tokens];
      cache.keep(0, tokens);
    },
    restored(tokens: readonly number[]) {
      row = [];
      const length = cache.restore(0, tokens);
      expect(row).toEqual(tokens.slice(0, length));
      return length;
    },
  };
}

describe('PrefixCache', () => {
  it('restores what it knows of a prompt in whole blocks, and leaves a token to compute', () => {
    const { cache, keep, restored } = cacheOf(8);
    keep([1, 2, 3, 4, 5]);
    expect(restored([1, 2, 3, 4])).toBe(2);
    expect(
      [
        [1, 2],
        [1, 2, 3],
        [1, 2, 3, 4],
        [1, 2, 3, 4, 5],
      ].map((tokens) => cache.known(tokens)),
    ).toEqual([...[0, 2, 2, 4]]);
    expect(restored([1, 2, 3, 4, 5])).toBe(4);
    expect(restored([1, 2, 9, 4, 5])).toBe(2);
    expect(restored([9, 2, 3])).toBe(0);
    cache.clear();
    expect(restored([1, 2, 3, 4, 5])).toBe(0);
  });

  it('forgets the block that was not used for longest, and a beginning after what follows it', () => {
    const { cache, keep, restored } = cacheOf(3);
    keep([1, 2, 3, 4]);
    keep([5, 6]);
    expect(restored([1, 2, 3, 4, 0])).toBe(4);
    keep([7, 8]);
    expect(cache.known([5, 6, 0])).toBe(0);
    expect(cache.known([1, 2, 3, 4, 0])).toBe(4);
    keep([9, 9]);
    expect(cache.known([1, 2, 3, 4, 0])).toBe(2);
    expect(cache.known([7, 8, 0])).toBe(2);
  });

  it('keeps completions once a prompt has continued one', () => {
    const { cache } = cacheOf(8);
    cache.keepCompletion(0, [1, 2, 3, 4], 2);
    expect(cache.known([1, 2, 3, 4, 5])).toBe(0);
    cache.observe([1, 2, 3]);
    cache.keepCompletion(0, [1, 2, 3, 4], 2);
    expect(cache.known([1, 2, 3, 4, 5])).toBe(0);
    cache.observe([1, 2, 3, 4, 5]);
    cache.keepCompletion(0, [1, 2, 3, 4], 2);
    expect(cache.known([1, 2, 3, 4, 5])).toBe(4);
  });

  it('recognises a completion by its whole blocks, if some of it is in them', () => {
    const { cache } = cacheOf(8);
    cache.keepCompletion(0, [1, 2, 3, 4, 5], 4);
    cache.observe([1, 2, 3, 4, 5]);
    cache.keepCompletion(0, [1, 2, 3, 4, 5], 3);
    expect(cache.known([1, 2, 3, 4, 5])).toBe(0);
    cache.observe([1, 2, 3, 4, 9]);
    cache.keepCompletion(0, [1, 2, 3, 4, 5], 3);
    expect(cache.known([1, 2, 3, 4, 5])).toBe(4);
  });

  it('remembers the last 4096 completions', () => {
    for (const [continued, kept] of [
      [0, 0],
      [1, 2],
    ] as const) {
      const { cache } = cacheOf(8);
      for (let token = 0; token <= 4096; token++) cache.keepCompletion(0, [7, token], 1);
      cache.observe([7, continued, 5]);
      cache.keepCompletion(0, [7, 8], 1);
      expect(cache.known([7, 8, 5])).toBe(kept);
    }
  });

  it('keeps nothing without memory for a block', () => {
    const { cache, keep } = cacheOf(0);
    keep([1, 2, 3, 4]);
    cache.keepCompletion(0, [1, 2, 3, 4], 1);
    cache.observe([1, 2, 3, 4, 5]);
    expect(cache.known([1, 2, 3, 4, 5])).toBe(0);
  });
});
