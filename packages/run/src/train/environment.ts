import type { Environment, State } from '@rlp/core';
import { ConversationEnvironment, SimpleTextEnvironment, taskSource } from '@rlp/env';
import type { Game, GameSetup, GameTasksOptions } from '@rlp/env/stock';
import type { DescribedEnvironment } from '../config/environment-schema.ts';
import type { ResolvedRunConfig } from '../config/run-schema.ts';
import type { AnswerMetadata } from '../config/stock-rewards.ts';
import type { RunRow } from './data/rows.ts';

/** Metadata of any task, as far as a run reads it. */
export type RunEnvironment = Environment<State, AnswerMetadata>;

type Given = NonNullable<ResolvedRunConfig['environment']>;

function described(given: Given): DescribedEnvironment | undefined {
  if (typeof given === 'string') return { name: given };
  return 'updateState' in given ? undefined : given;
}

function isGame({ name }: DescribedEnvironment): boolean {
  return name !== 'text' && name !== 'chat';
}

/** Whether a run plays a game, whose rules say what is right. */
export function playsGame(environment: ResolvedRunConfig['environment']): boolean {
  const asked = environment === undefined ? undefined : described(environment);
  return asked !== undefined && isGame(asked);
}

/** The rules of a game and its environment, loaded when they are needed. */
async function gameOf({ name, view }: DescribedEnvironment) {
  const { gameEnvironment, ...games } = await import('@rlp/env/stock');
  const known = Object.values(games).filter(
    (value): value is Extract<typeof value, { readonly tasks: unknown }> =>
      typeof value === 'object' && 'tasks' in value && 'name' in value,
  );
  const game = known.find((candidate) => candidate.name === name) as unknown as Game<GameSetup, unknown>;
  return { game, environment: gameEnvironment(game, view === undefined ? {} : { prompt: view }) };
}

/** Tasks of the game that a configuration plays, as rows. `undefined` if it plays none. */
export async function gameRows({ environment, seed }: ResolvedRunConfig): Promise<RunRow[] | undefined> {
  const asked = environment === undefined ? undefined : described(environment);
  if (asked === undefined || !isGame(asked)) return undefined;
  const { game } = await gameOf(asked);
  const { count = 200, difficulty = 0.5, seed: own = seed } = asked.tasks ?? {};
  const options: GameTasksOptions = { count, difficulty, seed: own };
  return game.tasks(options).map(({ metadata, ...task }) => ({ ...task, metadata: metadata as object }));
}

/** The environment of a run. */
export async function createEnvironment(
  given: ResolvedRunConfig['environment'],
  { hasChat, rows }: { readonly hasChat: boolean; readonly rows: readonly RunRow[] },
): Promise<RunEnvironment> {
  const isText = !hasChat && rows.every(({ prompt }) => typeof prompt === 'string');
  const asked = given === undefined ? ({ name: isText ? 'text' : 'chat' } as const) : described(given);
  if (asked === undefined) return given as unknown as RunEnvironment;
  if (isGame(asked)) return (await gameOf(asked)).environment as unknown as RunEnvironment;
  if (asked.name === 'text') return new SimpleTextEnvironment<AnswerMetadata>() as unknown as RunEnvironment;
  const { systemPrompt } = asked as DescribedEnvironment;
  return new ConversationEnvironment<AnswerMetadata>({ systemPrompt }) as unknown as RunEnvironment;
}

/** Whether the run's environment shows messages. */
export function showsMessages(environment: RunEnvironment): boolean {
  return environment instanceof ConversationEnvironment;
}

/** Whether the first prompts of the run's environment are those of the rows. */
export function showsRows(environment: RunEnvironment): boolean {
  return environment instanceof SimpleTextEnvironment || showsMessages(environment);
}

/** An endless source of the rows as tasks. */
export function tasksOf(rows: readonly RunRow[], seed: string) {
  return taskSource<AnswerMetadata>(rows, { seed });
}
