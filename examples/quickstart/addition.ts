import type { Demonstration } from '@rlp/algorithms';
import { RandomStream, type Task } from '@rlp/core';
import { type ArithmeticMetadata, arithmeticTasks } from '@rlp/env';
import type { InferenceModule } from '@rlp/inference';
import { extractTag } from '@rlp/rewards';

/** A sum of two two-digit numbers, such as `47+85=`. */
export type AdditionTask = Task<ArithmeticMetadata>;

/** Problems of each stage. No problem is in two of them. */
export interface AdditionTasks {
  readonly demonstrated: readonly AdditionTask[];
  readonly practised: readonly AdditionTask[];
  readonly heldOut: readonly AdditionTask[];
}

/** All problems that need a carry, in an order drawn from `seed`, dealt to the three stages. */
export function additionTasks(seed: string, { heldOut = 400, demonstrated = 3000 } = {}): AdditionTasks {
  const all = arithmeticTasks({ digits: 2, count: 6000, carry: 'needed', seed });
  return {
    heldOut: all.slice(0, heldOut),
    demonstrated: all.slice(heldOut, heldOut + demonstrated),
    practised: all.slice(heldOut + demonstrated),
  };
}

/** Solution of a sum, column by column, with the carry or without it. */
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

/** Solutions of a teacher who forgets to carry with probability `carelessness`. */
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

/** Answers to held-out problems. */
export interface Evaluation {
  /** Share of exactly right answers. */
  readonly accuracy: number;
  readonly responses: readonly {
    readonly prompt: string;
    readonly answer: string;
    readonly response: string;
  }[];
}

/** Text inside the last `<answer>` of a response. */
export const answerOf = extractTag('answer');

/** Samples one greedy answer per problem and counts the right ones. */
export async function evaluate(
  inference: InferenceModule,
  tasks: readonly AdditionTask[],
  signal?: AbortSignal,
): Promise<Evaluation> {
  const prompts = tasks.map(({ prompt }) => prompt as string);
  const texts = await inference.generate(prompts, { temperature: 0, maxTokens: 40, signal });
  const responses = tasks.map(({ metadata: { answer } }, index) => {
    return { prompt: prompts[index]!, answer, response: texts[index]!.text };
  });
  const right = responses.filter(({ answer, response }) => answerOf(response) === answer).length;
  return { accuracy: right / tasks.length, responses };
}
