import { ArgumentError } from '@rlp/core';
import { requireRows, type TokenRows } from './token-rows.ts';

/**
 * Probability that at least one of `k` completions is right, estimated without bias from n ≥ k completions per task.
 *
 *     mean over tasks of 1 − C(n − c, k) / C(n, k),   c = number of right completions
 *
 * k = 1 is the accuracy and k = n the share of tasks with any success. `correct` is 1 where right. Shape `[P][G]`.
 *
 * @throws ArgumentError for no task, numbers that are not finite, or `k` that is not an integer from 1 to the size of every group.
 * @see Chen et al. 2021, §2.1, https://arxiv.org/abs/2107.03374
 */
export function passAtK(correct: TokenRows, k: number): number {
  requireRows('passAtK', { correct });
  if (correct.length === 0) throw new ArgumentError('passAtK: correct must have at least one task, got none');
  let total = 0;
  for (const [p, { length }] of correct.entries()) {
    if (!Number.isInteger(k) || k < 1 || k > length) {
      throw new ArgumentError(
        `passAtK: k must be an integer from 1 to ${length}, the completions of correct[${p}], got ${String(k)}`,
      );
    }
    let wrong = 0;
    for (let g = 0; g < length; g++) if (correct[p]![g] === 0) wrong++;
    let allWrong = 1;
    for (let drawn = 0; drawn < k; drawn++) allWrong *= Math.max(0, wrong - drawn) / (length - drawn);
    total += 1 - allWrong;
  }
  return total / correct.length;
}
