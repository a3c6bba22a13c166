import { ArgumentError, type Environment, type State, type TokenId } from '@rlp/core';
import { ConversationEnvironment, SimpleTextEnvironment, taskSource } from '@rlp/env';
import type { Game, GameSetup, GameTasksOptions } from '@rlp/env/stock';
import type { LanguageModel } from '@rlp/models';
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

/** Whether a configuration gives an environment, and no name of one. */
export function isOwn(environment: ResolvedRunConfig['environment']): boolean {
  return environment !== undefined && described(environment) === undefined;
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

/**
 * Tokens of what an environment shows first of a row.
 *
 * @throws ArgumentError if the model has no chat template and messages are shown; what the tokenizer or the template refuses.
 */
export function firstPrompt(
  row: RunRow,
  environment: RunEnvironment,
  { tokenizer, chat }: Pick<LanguageModel, 'tokenizer' | 'chat'>,
): readonly TokenId[] {
  const view = environment.buildPrompt(environment.reset(row, 0) as State);
  if (typeof view === 'string') return tokenizer.encode(view);
  if (chat !== undefined) return chat.render(view);
  throw new ArgumentError('it is of messages, and the model has no chat template; use a model that can chat');
}

/** An endless source of the rows as tasks. */
export function tasksOf(rows: readonly RunRow[], seed: string) {
  return taskSource<AnswerMetadata>(rows, { seed });
}
