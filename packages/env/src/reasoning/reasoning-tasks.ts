import { parseOptions, RandomStream, requireArguments, requireFields, type Task } from '@rlp/core';
import * as z from 'zod';
import { answerIn } from '../answer-in.ts';
import { normalized } from './family.ts';
import { letterFamilies } from './letters.ts';
import { logicFamilies } from './logic.ts';
import { measureFamilies } from './measures.ts';
import { numberFamilies } from './numbers.ts';
import { spaceFamilies } from './space.ts';

const families = {
  ...numberFamilies,
  ...letterFamilies,
  ...logicFamilies,
  ...measureFamilies,
  ...spaceFamilies,
};

/** Names of all families of {@link reasoningTasks}. */
export const reasoningFamilies: readonly string[] = Object.keys(families).toSorted();

const family = z.string().refine((name) => Object.hasOwn(families, name), {
  error: ({ input }) => `"${input}" is not a family. Families: ${reasoningFamilies.join(', ')}`,
});

const schema = z
  .strictObject({
    /** Number of tasks. */
    count: z.int().min(1).max(1_000_000),
    /** Families to draw from. Default all of `reasoningFamilies`. */
    families: z.array(family).min(1).readonly().optional(),
    /** From 0, the easiest, to 1. Numbers get larger, texts longer. Default 0.5. */
    difficulty: z.number().min(0).max(1).default(0.5),
    /** How often each family is drawn, relative to the others. Default 1 each. */
    weights: z.record(family, z.number().nonnegative()).default({}),
    /** Names the random stream of the draws. Default `'reasoning'`. */
    seed: z.string().default('reasoning'),
  })
  .refine(
    ({ families: names = reasoningFamilies, weights }) => names.some((name) => (weights[name] ?? 1) > 0),
    {
      path: ['weights'],
      message: 'must be above 0 for at least one family',
    },
  );

/** Options of {@link reasoningTasks}. */
export interface ReasoningOptions extends z.input<typeof schema> {}

/** What the grader of a reasoning task needs. */
export interface ReasoningMetadata {
  /** One of `reasoningFamilies`. */
  readonly family: string;
  readonly difficulty: number;
  /** A right answer. Some families accept others, too. */
  readonly answer: string;
  /** What the check of the family needs besides. */
  readonly data?: unknown;
}

/**
 * Seeded tasks of many families. Each has one question and an answer that was computed. {@link isReasoningAnswer} grades responses.
 *
 * @throws OptionsError naming every problem at once.
 */
export function reasoningTasks(options: ReasoningOptions): Task<ReasoningMetadata>[] {
  const resolved = parseOptions('reasoningTasks', schema, options, 'ReasoningOptions');
  const { count, difficulty, seed, weights, families: names = reasoningFamilies } = resolved;
  const shares = names.map((name) => weights[name] ?? 1);
  return Array.from({ length: count }, (_, index) => {
    const random = RandomStream.named(seed, 'reasoning', difficulty, index);
    const name = names[random.weighted(shares)]!;
    const { question, answer, data } = families[name]!.draw(random, difficulty);
    return {
      id: `reasoning/${seed}/${difficulty}/${index}`,
      prompt: `${question}\nWrite the answer alone on the last line.`,
      metadata: { family: name, difficulty, answer, ...(data !== undefined && { data }) },
    };
  });
}

/**
 * Whether a response answers a task of {@link reasoningTasks}. Reads what stands in the last `<answer>`, or else the last line.
 *
 * Use it in a reward:
 *
 * ```ts
 * rewardFunctions({ right: ({ response, task }) => (isReasoningAnswer(response, task.metadata) ? 1 : 0) });
 * ```
 */
export function isReasoningAnswer(response: string, inputs: ReasoningMetadata): boolean {
  requireArguments('isReasoningAnswer', { response: 'text' }, response);
  requireFields('isReasoningAnswer', { family: 'text', difficulty: 'number', answer: 'text' }, inputs);
  const { family: name, answer, data } = inputs;
  const text = answerIn(response).toLowerCase();
  if (text === '') return false;
  const check = Object.hasOwn(families, name) ? families[name]!.check : undefined;
  if (check === undefined) return normalized(text) === normalized(answer);
  const isRight = (said: string) => check(said, { answer, data });
  return isRight(text) || (text.endsWith('.') && isRight(text.slice(0, -1)));
}
