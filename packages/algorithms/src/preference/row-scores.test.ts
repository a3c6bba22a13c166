import type { TokenScores, TrainingBackend } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { columnsOf, factoredRows, impliedRewards } from './learn-pairs.ts';
import { preferenceTermSchema } from './loss-options.ts';
import { ReferenceScores } from './reference-scores.ts';
import {
  atFirstToken,
  completionTokens,
  type FactoredRow,
  meanEntropy,
  readTokens,
  rowSums,
  tokenFactors,
  weightedRow,
} from './row-scores.ts';

/** A completion of three tokens with a masked one between. The first counts in full, later ones by a quarter. */
const row: FactoredRow = {
  tokens: [5, 6, 7, 8, 9, 4],
  mask: Uint8Array.of(0, 0, 1, 0, 1, 1),
  full: 1,
  discount: 0.25,
};
const logprobs = Float32Array.of(0, Number.NEGATIVE_INFINITY, -1, -8, -2, -4);

describe('sums of a row', () => {
  it('discount what is longer than the other side, and leave masked tokens out', () => {
    const { scored, completion, sequence } = tokenFactors(row);
    expect([...scored]).toEqual([0, 0, 1, 0, 0.25, 0.25]);
    expect([...completion]).toEqual([0, 0, 1, 0, 1, 1]);
    expect([...sequence]).toEqual([0, 1, 1, 1, 1, 1]);
    expect(completionTokens(row)).toBe(3);
  });

  it('of a completion stay finite where the prompt is impossible', () => {
    expect(rowSums(row, { logprobs })).toEqual({
      scored: -2.5,
      completion: -7,
      sequence: Number.NEGATIVE_INFINITY,
    });
  });

  it('never count the first token, which nothing predicts', () => {
    const whole = { ...row, mask: new Uint8Array(6).fill(1), full: 9 };
    const numbers = Float32Array.of(-100, -1, -1, -1, -1, -1);
    expect(rowSums(whole, { logprobs: numbers })).toEqual({ scored: -5, completion: -5, sequence: -5 });
  });

  it('have the weights of cross-entropy that the chain rule gives', () => {
    const { weights, mask } = weightedRow(row, { scored: 2, completion: -1, sequence: 0 });
    expect(Array.from(weights, (x) => x + 0)).toEqual([0, 0, -1, 0, 0.5, 0.5]);
    expect(mask).toBe(row.mask);
    const whole = weightedRow(row, { scored: 2, completion: -1, sequence: 4 });
    expect(Array.from(whole.weights, (x) => x + 0)).toEqual([0, -4, -5, -4, -3.5, -3.5]);
    expect([...(whole.mask as Uint8Array)]).toEqual([0, 1, 1, 1, 1, 1]);
  });

  it('stand at the first token that is read', () => {
    expect([...atFirstToken(row.mask, 3)]).toEqual([0, 0, 3, 0, 0, 0]);
    expect([...readTokens(row, 'sequence')]).toEqual([0, 1, 1, 1, 1, 1]);
    expect(readTokens(row, 'completion')).toBe(row.mask);
  });

  it('of entropies are means over the completions of all rows', () => {
    const short = { tokens: [1, 2], mask: Uint8Array.of(1, 1) };
    expect(
      meanEntropy(
        [row, short],
        [
          [9, 9, 1, 9, 2, 3],
          [9, 6],
        ],
      ),
    ).toBe(3);
  });
});

describe('pairs in columns', () => {
  const side = (...mask: number[]) => ({ tokens: mask.map((_, t) => t), mask: Uint8Array.from(mask) });
  const batch = [
    { chosen: side(0, 1, 1, 1), rejected: side(0, 1) },
    { chosen: side(0, 0, 1), rejected: side(0, 0, 1, 1, 1) },
  ];
  const sides = factoredRows(batch, 0.5);
  const sums = [1, 2, 3, 4].map((x) => ({ scored: -x, completion: -10 * x, sequence: -100 * x }));
  const columns = columnsOf(sides, sums, Float64Array.of(-0.5, -1, -1.5, -2));

  it('count both sides in full up to the length of the shorter', () => {
    expect(sides.map(({ full, discount }) => [full, discount])).toEqual(new Array(4).fill([1, 0.5]));
    expect(sides.map(({ tokens }) => tokens.length)).toEqual([4, 3, 2, 5]);
  });

  it('have the chosen first, and means over the chosen of the batch', () => {
    expect(Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, [...values]]))).toEqual({
      chosen: [-1, -2],
      rejected: [-3, -4],
      referenceChosen: [-0.5, -1],
      referenceRejected: [-1.5, -2],
      chosenTokens: [3, 1],
      rejectedTokens: [1, 3],
      completion: [-10, -20],
      meanCompletionTokens: [2, 2],
      sequence: [-100, -200],
      meanSequenceTokens: [2.5, 2.5],
    });
  });

  it.each([
    [{ kind: 'sigmoid', beta: 2 }, [-1, -2], [-3, -4]],
    [{ kind: 'cpo', beta: 2 }, [-1, -2], [-3, -4]],
    [{ kind: 'cpo', beta: 3, form: 'ipo' }, [-0.5, -3], [-4.5, -2]],
    [{ kind: 'orpo', beta: 3 }, [-0.5, -3], [-4.5, -2]],
    [{ kind: 'simpo', beta: 3 }, [-0.5, -3], [-4.5, -2]],
    [
      { kind: 'simpo', beta: 1, alpha: -1 },
      [1 - Math.exp(-0.5 / 3), 1 - Math.exp(-1)].map((x) => -x),
      [1 - Math.exp(-1.5), 1 - Math.exp(-2 / 3)].map((x) => -x),
    ],
  ] as const)('imply rewards, per token where the loss is: %j', (term, chosen, rejected) => {
    const rewards = impliedRewards(preferenceTermSchema.parse(term) as never, columns);
    expect([...rewards.chosen]).toEqual(chosen.map((x) => expect.closeTo(x, 12)));
    expect([...rewards.rejected]).toEqual(rejected.map((x) => expect.closeTo(x, 12)));
  });
});

describe('ReferenceScores', () => {
  it('asks once for rows with a name, always for those without, and anew when it forgot', async () => {
    const asked: unknown[] = [];
    const backend = {
      logprobs: async (tokens: readonly (readonly number[])[], options: object) => {
        asked.push([tokens.map(([first]) => first), options]);
        return tokens.map(([first]) => ({ logprobs: new Float32Array(6).fill(-first!) }) as TokenScores);
      },
    } as unknown as TrainingBackend;
    const rows = [1, 2].map((first) => ({ ...row, full: 9, tokens: [first, 6, 7, 8, 9, 4] }));
    const masks = [row.mask, row.mask];
    const references = new ReferenceScores();
    expect([...(await references.of(backend, rows, ['a', undefined]))]).toEqual([-3, -6]);
    expect([...(await references.of(backend, rows, ['a', 'b'], 2))]).toEqual([-3, -6]);
    expect([...(await references.of(backend, rows, ['a', 'b']))]).toEqual([-3, -6]);
    references.forget();
    await references.of(backend, rows, ['a', 'b']);
    expect(asked).toEqual([
      [[1, 2], { policy: 'reference', masks }],
      [[2], { policy: 'reference', masks: [row.mask], sequencesPerRow: 2 }],
      [[1, 2], { policy: 'reference', masks }],
    ]);
  });
});
