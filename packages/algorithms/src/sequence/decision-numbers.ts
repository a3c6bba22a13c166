import { ArgumentError, type TokenSequence, type Trajectory } from '@rlp/core';
import { requireFinite } from '../statistics/token-rows.ts';

/** One number for a whole trajectory, or one per step, or one per sampled token (all steps' tokens in order). */
export type DecisionNumbers = number | ArrayLike<number>;

/**
 * Numbers for every token that was sampled. Shape `[B][steps][tokens]`.
 *
 * @param name - Of the argument, for messages.
 * @throws ArgumentError for numbers that are not finite or do not fit.
 */
export function numbersPerToken(
  name: string,
  numbers: readonly DecisionNumbers[],
  trajectories: readonly Trajectory[],
): number[][][] {
  if (numbers.length !== trajectories.length) {
    throw new ArgumentError(
      `computePpoLoss: ${name} must have one entry per trajectory, ${trajectories.length}, got ${numbers.length}`,
    );
  }
  return trajectories.map(({ steps }, b) => {
    const given = numbers[b]!;
    const list = typeof given === 'number' ? [given] : Array.from(given);
    requireFinite('computePpoLoss', `${name}[${b}]`, list);
    if (typeof given === 'number') return steps.map(({ tokens }) => tokens.map(() => given));
    if (list.length === steps.length) return steps.map(({ tokens }, step) => tokens.map(() => list[step]!));
    const sampled = steps.reduce((total, { tokens }) => total + tokens.length, 0);
    if (list.length !== sampled) {
      throw new ArgumentError(
        `computePpoLoss: ${name}[${b}] must have ${steps.length} numbers, one per step, or ${sampled}, ` +
          `one per sampled token, got ${list.length}`,
      );
    }
    let from = 0;
    return steps.map(({ tokens }) => {
      from += tokens.length;
      return list.slice(from - tokens.length, from);
    });
  });
}

/**
 * A step's numbers at the tokens it chose, 0 elsewhere: from the last one back, as a first token without a prompt is not
 * trained. Shape `[T]`.
 */
export function spreadOverSequence(
  { steps }: TokenSequence,
  numbers: readonly (readonly number[])[],
): Float64Array {
  const row = new Float64Array(steps.length);
  const left = numbers.map(({ length }) => length);
  for (let t = row.length - 1; t >= 0; t--) {
    const step = steps[t]!;
    if (step < 0) continue;
    left[step]! -= 1;
    row[t] = numbers[step]![left[step]!]!;
  }
  return row;
}
