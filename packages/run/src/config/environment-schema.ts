import type { Environment } from '@rlp/core';
import * as z from 'zod';

/** Games of `@rlp/env/stock` that a configuration can name. */
export const gameNames = [
  'adventure',
  'arithmetic',
  'calculator',
  'countdown',
  'frozen-lake',
  'key-and-door',
  'library-desk',
  'mastermind',
  'shop',
  'sokoban',
  'sorting',
  'sql-questions',
  'sudoku',
  'wordle',
] as const;

/** Name of a game. */
export type GameName = (typeof gameNames)[number];

const nameSchema = z.enum(['text', 'chat', ...gameNames]);

const tasksSchema = z.strictObject({
  /** Tasks that are made. Default 200. */
  count: z.int().min(1).default(200),
  /** From 0, the easiest, to 1. Default 0.5. */
  difficulty: z.number().min(0).max(1).default(0.5),
  /** Names the random stream of the tasks. Defaults to the run's `seed`. */
  seed: z.string().optional(),
});

const describedSchema = z
  .strictObject({
    /** `'text'` continues the prompt, `'chat'` answers in the model's chat template. Others are games of `@rlp/env/stock`. */
    name: nameSchema,
    /** Goes before the messages of `'chat'`. Default none. */
    systemPrompt: z.string().min(1).optional(),
    /** What the policy sees of a game: the whole conversation, the position, or its key. Default `'conversation'`. */
    view: z.enum(['conversation', 'view', 'key']).optional(),
    /** Tasks of a game. Default `{}`. */
    tasks: tasksSchema.optional(),
  })
  .superRefine(({ name, systemPrompt, view, tasks }, { addIssue }) => {
    const issue = (at: string, message: string) => addIssue({ code: 'custom', path: [at], message });
    const isGame = name !== 'text' && name !== 'chat';
    if (systemPrompt !== undefined && name !== 'chat')
      issue('systemPrompt', "belongs to 'chat'; leave it out");
    if (view !== undefined && !isGame) issue('view', 'belongs to games; leave it out');
    if (tasks !== undefined && !isGame) issue('tasks', "belongs to games; give the tasks as the run's data");
  });

/** An environment by its name. */
export type DescribedEnvironment = z.output<typeof describedSchema>;

const isEnvironment = (value: unknown) =>
  typeof (value as Environment | null | undefined)?.updateState === 'function';

/** Schema of the environment of a run. */
export const environmentSchema = z.union([
  nameSchema,
  describedSchema,
  z.custom<Environment>(isEnvironment, 'expected the name of an environment, or an environment'),
]);
