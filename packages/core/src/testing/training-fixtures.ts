import type { Loss, TrainingBackend, TrainingSequence, Weights } from '../training.ts';
import { expect } from './vitest.ts';

/** `−ln π(token)`: what supervised training minimises. */
export const negativeLogLikelihood: Loss = {
  key: 'contract/negative-log-likelihood',
  columns: [],
  compute: (ops, { logprobs }) => ({
    tokenLosses: ops.neg(logprobs),
    metrics: { surprise: ops.neg(logprobs), one: ops.constant(1) },
  }),
};

/** `−A · ln π(token)`: reads a column. */
export const policyGradient: Loss = {
  key: 'contract/policy-gradient',
  columns: ['advantages'],
  compute: (ops, { logprobs, columns }) => ({
    tokenLosses: ops.neg(ops.mul(columns.advantages!, logprobs)),
  }),
};

/** Squared gap between the log-probabilities of two sequences, at each of their tokens. `side` is 1 for the first and −1 for the second. */
export const squaredGap: Loss = {
  key: 'contract/squared-gap',
  columns: ['side'],
  sequencesPerRow: 2,
  compute: (ops, { logprobs, mask, columns }) => ({
    tokenLosses: ops.mul(mask, ops.square(ops.rowSum(ops.mul(logprobs, columns.side!)))),
  }),
};

/** Divides by zero at every token. */
export const notFinite: Loss = {
  key: 'contract/not-finite',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.div(logprobs, ops.sub(logprobs, logprobs)) }),
};

/** Cannot be computed. */
export const broken: Loss = {
  key: 'contract/broken',
  columns: [],
  compute: () => {
    throw new Error('this loss is broken');
  },
};

/** A sequence that trains every token but the first, with one weight. */
export function sequence(
  tokens: readonly number[],
  weight = 1,
  change: Partial<TrainingSequence> = {},
): TrainingSequence {
  return {
    tokens,
    mask: tokens.map((_, t) => (t === 0 ? 0 : 1)),
    weights: tokens.map(() => weight),
    columns: {},
    ...change,
  };
}

/** Three tokens, two of them trained. */
export const short = sequence([1, 2, 3], 0.5);
/** Six tokens, three of them trained. */
export const long = sequence([0, 3, 2, 2, 1, 0], 0.25, { mask: [0, 0, 1, 1, 0, 1] });

/** One update towards both sequences. Gives the number of updates made. */
export async function train(backend: TrainingBackend): Promise<number> {
  backend.forwardBackward({ sequences: [short, long] }, negativeLogLikelihood);
  return (await backend.optimStep()).updates;
}

/** Largest gap between the logprobs of two backends. */
export async function scoreGap(a: TrainingBackend, b: TrainingBackend): Promise<number> {
  const [left, right] = [await a.logprobs([long.tokens]), await b.logprobs([long.tokens])];
  return largestGap(left[0]!.logprobs, right[0]!.logprobs);
}

/** Logprobs of two sequences: what a change of the weights would change. */
export async function scores(backend: TrainingBackend): Promise<number[][]> {
  const rows = await backend.logprobs([short.tokens, long.tokens]);
  return rows.map(({ logprobs }) => [...logprobs]);
}

/** Whether weights are equal bit for bit. */
function sameBits(a: Weights, b: Weights): boolean {
  return [...a].every(([name, { data }]) => {
    const other = b.get(name)!.data;
    return data.length === other.length && data.every((x, i) => Object.is(x, other[i]));
  });
}

/** Fails unless names and bits are equal. */
export function expectSameWeights(got: Weights, expected: Weights): void {
  expect([...got.keys()].sort()).toEqual([...expected.keys()].sort());
  expect(sameBits(got, expected)).toBe(true);
}

/** Difference relative to what was expected, or to 1e-3 where that is larger. */
export function relativeGap(got: number, expected: number): number {
  return Math.abs(got - expected) / Math.max(1e-3, Math.abs(expected));
}

/** Largest {@link relativeGap} of two lists. */
export function largestGap(got: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(got.length).toBe(expected.length);
  let gap = 0;
  for (let i = 0; i < expected.length; i++) gap = Math.max(gap, relativeGap(got[i]!, expected[i]!));
  return gap;
}
