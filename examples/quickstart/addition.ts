import type { Demonstration } from '@rlp/algorithms';
import { RandomStream, type Task } from '@rlp/core';
import { type ArithmeticMetadata, arithmeticTasks } from '@rlp/env';

/** A sum of two two-digit numbers, such as `47+85=`. */
export type AdditionTask = Task<ArithmeticMetadata>;

/** Problems for each stage; no problem is in two of them. */
export interface AdditionTasks {
  /** Demonstrated to the model. */
  readonly demonstrated: readonly AdditionTask[];
  /** Practised by reinforcement learning. */
  readonly practised: readonly AdditionTask[];
  /** Never trained on. */
  readonly heldOut: readonly AdditionTask[];
}

/** All problems, in an order drawn from `seed`, dealt to the three stages. Each needs a carry somewhere. */
export function additionTasks(seed: string, { heldOut = 400, demonstrated = 3000 } = {}): AdditionTasks {
  const all = arithmeticTasks({ digits: 2, count: 6000, carry: 'needed', seed });
  return {
    heldOut: all.slice(0, heldOut),
    demonstrated: all.slice(heldOut, heldOut + demonstrated),
    practised: all.slice(heldOut + demonstrated),
  };
}

/** How a sum is worked out: column by column, with the carry or, as beginners do, without it. */
export function workedSolution(
  [a, b]: readonly [number, number],
  carrying: 'carries' | 'forgets the carry',
): string {
  const ones = (a % 10) + (b % 10);
  const carry = carrying === 'carries' && ones > 9 ? 1 : 0;
  const [tensA, tensB] = [Math.floor(a / 10), Math.floor(b / 10)];
  const tens = tensA + tensB + carry;
  const columns = `${a % 10}+${b % 10}=${ones},${tensA}+${tensB}${carry > 0 ? '+1' : ''}=${tens}`;
  return `<reasoning>${columns}</reasoning><answer>${tens}${ones % 10}</answer>`;
}

/** A teacher who forgets to carry with probability `carelessness`. */
export function demonstrations(
  tasks: readonly AdditionTask[],
  { seed, carelessness }: { readonly seed: string; readonly carelessness: number },
): Demonstration[] {
  const stream = RandomStream.named(seed, 'teacher');
  return tasks.map(({ prompt, metadata }) => ({
    prompt: prompt as string,
    completion: workedSolution(
      metadata.addends,
      stream.uniform() < carelessness ? 'forgets the carry' : 'carries',
    ),
  }));
}
