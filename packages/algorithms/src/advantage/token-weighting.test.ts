import { describe, expect, it } from 'vitest';
import {
  entropyWeightedAdvantages,
  planningAmplifiedAdvantages,
  planningTokens,
  pooledEntropies,
} from './token-weighting.ts';

describe('entropyWeightedAdvantages', () => {
  it('favours hesitant tokens, never turns a sign, and averages to the advantage', () => {
    const weighted = entropyWeightedAdvantages(2, [1, 2, 3], { strength: 0.5 });
    expect([...weighted]).toEqual([1.5, 2, 2.5].map((x) => expect.closeTo(x, 6)));
    expect(entropyWeightedAdvantages(-1, [0, 4], { strength: 3 })[0]).toBe(-0);
    expect([...entropyWeightedAdvantages(2, [0, 0], { strength: 1 })]).toEqual([2, 2]);
  });

  it('refuses what is not finite', () => {
    expect(() => entropyWeightedAdvantages(1, [Number.NaN], { strength: 1 })).toThrow(/entropies\[0\]/);
    expect(() => entropyWeightedAdvantages(Number.NaN, [], { strength: 1 })).toThrow(
      /advantage must be a number/,
    );
    expect(() => entropyWeightedAdvantages(Number.POSITIVE_INFINITY, [], { strength: 1 })).toThrow(
      /advantage and strength/,
    );
  });
});

describe('planning', () => {
  it('marks the tokens of the shortest window with a phrase, between word boundaries', () => {
    const tokens = ['Ġlet', 'Ġme', 'Ġcheck', '.', '▁Outlet', '▁me', '▁check'];
    expect([...planningTokens(tokens, ['let me check'])]).toEqual([1, 1, 1, 0, 0, 0, 0]);
    expect([...planningTokens(['a+b', 'c'], ['a+b'])]).toEqual([1, 0]);
    expect([...planningTokens(['a'], [])]).toEqual([0]);
  });

  it('amplifies advantages by size, and pools the entropies of the others', () => {
    const amplified = planningAmplifiedAdvantages([1, -1, 2], [1, 1, 0], { amplification: 0.5 });
    expect([...amplified]).toEqual([1.5, -0.5, 2]);
    expect([...pooledEntropies([1, 3, 9], [0, 0, 1], { share: 0.5 })]).toEqual([1.5, 2.5, 9]);
    expect([...pooledEntropies([1, 3, 9], [0, 0, 1], { share: 7 })]).toEqual([2, 2, 9]);
    expect(() => pooledEntropies([1], [], { share: 1 })).toThrow(/planning must have 1 entries/);
    expect(() => pooledEntropies([1, Number.NaN], [0, 0], { share: 1 })).toThrow(/entropies\[1\]/);
    expect(() => planningAmplifiedAdvantages([1], [1], { amplification: Number.POSITIVE_INFINITY })).toThrow(
      /amplification must be finite/,
    );
  });
});
