import { ArgumentError, RandomStream } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipCovarianceKeep, highEntropyKeep, klCovarianceSelection } from '../loss/covariance.ts';
import { klPenalizedRewards } from '../loss/reward-shaping.ts';
import { whitened } from '../statistics/whitened.ts';
import { bilevelGae } from './bilevel-gae.ts';
import { discountedReturns } from './discounted-returns.ts';
import { gae } from './gae.ts';
import { optimalTokenBaseline } from './optimal-token-baseline.ts';
import { reinforceAdvantages } from './token-advantages.ts';

type Rows = readonly number[][];
type Inputs = Readonly<Record<string, Rows>> & { readonly masks: Rows };

/** Everything that maps tokens of a batch to tokens: what it reads besides masks, and how it is called. */
const functions: readonly {
  readonly name: string;
  readonly reads: readonly string[];
  call(inputs: Inputs): readonly Float64Array[];
}[] = [
  {
    name: 'gae',
    reads: ['rewards', 'values'],
    call: ({ rewards, values, masks }) => gae({ rewards: rewards!, values: values!, masks }).advantages,
  },
  {
    name: 'bilevelGae',
    reads: ['rewards', 'values'],
    call: ({ rewards, values, masks }) =>
      bilevelGae({ rewards: rewards!, values: values!, masks, turnEnds: masks }).advantages,
  },
  {
    name: 'discountedReturns',
    reads: ['rewards'],
    call: ({ rewards, masks }) => discountedReturns({ rewards: rewards!, masks }, { discount: 0.9 }),
  },
  {
    name: 'reinforceAdvantages',
    reads: ['rewards'],
    call: ({ rewards, masks }) =>
      reinforceAdvantages({ rewards: rewards!, masks, baselines: masks.map(() => 0.5) }).advantages,
  },
  {
    name: 'optimalTokenBaseline',
    reads: ['rewards', 'logprobs', 'squaredProbabilitySums'],
    call: ({ rewards, logprobs, squaredProbabilitySums, masks }) =>
      optimalTokenBaseline({
        rewards: rewards!,
        logprobs: logprobs!,
        squaredProbabilitySums: squaredProbabilitySums!,
        masks,
        groups: masks.map(() => 'one'),
      }).advantages,
  },
  {
    name: 'whitened',
    reads: ['values'],
    call: ({ values, masks }) => whitened(values!, masks),
  },
  {
    name: 'klPenalizedRewards',
    reads: ['kl'],
    call: ({ kl, masks }) =>
      klPenalizedRewards(
        { rewards: masks.map((row) => row.map(() => 1)), kl: kl!, masks },
        { coefficient: 0.1 },
      ),
  },
  {
    name: 'klCovarianceSelection',
    reads: ['logprobs', 'advantages'],
    call: ({ logprobs, advantages, masks }) =>
      klCovarianceSelection({ logprobs: logprobs!, advantages: advantages!, masks }, { share: 0.5 }),
  },
  {
    name: 'clipCovarianceKeep',
    reads: ['logprobs', 'proximalLogprobs', 'advantages'],
    call: ({ logprobs, proximalLogprobs, advantages, masks }) =>
      clipCovarianceKeep(
        { logprobs: logprobs!, proximalLogprobs: proximalLogprobs!, advantages: advantages!, masks },
        RandomStream.named('test'),
        { share: 0.5, low: -1 },
      ),
  },
  {
    name: 'highEntropyKeep',
    reads: ['entropies'],
    call: ({ entropies, masks }) => highEntropyKeep({ entropies: entropies!, masks }, { share: 0.4 }),
  },
];

const names = [...new Set(functions.flatMap(({ reads }) => reads))];

/** Three rows of up to four tokens; logprobs and the like stay in their ranges. */
const batches: fc.Arbitrary<Inputs> = fc
  .record({
    lengths: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 3 }),
    numbers: fc.array(fc.double({ min: 0.01, max: 0.99, noNaN: true }), { minLength: 120, maxLength: 120 }),
    counts: fc.array(fc.constantFrom(0, 1), { minLength: 12, maxLength: 12 }),
  })
  .map(({ lengths, numbers, counts }) => {
    const rows = (value: (at: number) => number): number[][] =>
      lengths.map((length, b) => Array.from({ length }, (_, t) => value(4 * b + t)));
    const sign = (name: string) => (name.endsWith('ogprobs') ? -1 : 1);
    return {
      ...Object.fromEntries(
        names.map((name, index) => [name, rows((at) => sign(name) * numbers[12 * index + at]!)]),
      ),
      masks: rows((at) => counts[at]!),
    };
  });

const plain = (rows: readonly Float64Array[]) => rows.map((row) => [...row]);

describe.each(functions)('$name', ({ reads, call }) => {
  it('is not influenced by tokens that do not count', () => {
    fc.assert(
      fc.property(batches, fc.double({ min: 0, max: 0.009, noNaN: true }), (inputs, noise) => {
        const disturbed = Object.fromEntries(
          Object.entries(inputs).map(([key, rows]) => {
            if (!reads.includes(key)) return [key, rows];
            return [
              key,
              rows.map((row, b) => row.map((x, t) => (inputs.masks[b]![t] === 0 ? x + noise : x))),
            ];
          }),
        ) as Inputs;
        const counted = (rows: readonly Float64Array[]) =>
          plain(rows).map((row, b) => row.filter((_, t) => inputs.masks[b]![t] !== 0));
        expect(counted(call(disturbed))).toEqual(counted(call(inputs)));
      }),
    );
  });

  it('is finite, and of the shape of its input, also where nothing counts', () => {
    fc.assert(
      fc.property(batches, fc.boolean(), (inputs, isEmpty) => {
        const masks = isEmpty ? inputs.masks.map((row) => row.map(() => 0)) : inputs.masks;
        const result = call({ ...inputs, masks });
        expect(result.map(({ length }) => length)).toEqual(masks.map(({ length }) => length));
        expect(plain(result).flat().every(Number.isFinite)).toBe(true);
      }),
    );
    const nothing = Object.fromEntries([...names, 'masks'].map((key) => [key, []])) as unknown as Inputs;
    expect(call(nothing)).toEqual([]);
  });

  it.each(reads)('names %s that are not finite or do not fit', (spoiled) => {
    const good = Object.fromEntries(
      [...names, 'masks'].map((key) => [key, key === 'masks' ? [[1, 1], [1]] : [[0.5, 0.25], [0.5]]]),
    ) as unknown as Inputs;
    const attempt = (rows: Rows) => () => call({ ...good, [spoiled]: rows });
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const thrown = attempt([[0.5, value], [0.5]]);
      expect(thrown).toThrow(ArgumentError);
      expect(thrown).toThrow(new RegExp(`${spoiled}\\[0\\]\\[1\\].*finite.*got ${value}`));
    }
    for (const ragged of [[[0.5], [0.5]], [[0.5, 0.25]]]) {
      expect(attempt(ragged)).toThrow(ArgumentError);
    }
  });
});
