import { callback, having, parseOptions, RandomStream, type State, type Task } from '@rlp/core';
import * as z from 'zod';
import type { Tool } from '../tools/tool.ts';

/** What a turn may use besides the text. */
export interface PlayContext {
  /** Draws of this turn, for games with chance. */
  readonly chance: RandomStream;
  /** Fires when the run is stopped. */
  readonly signal: AbortSignal | undefined;
}

/** Why a response changes nothing: what was expected, for the policy to read. */
export interface Refusal {
  readonly refusal: string;
}

/** State of a game. All of it is JSON. */
export interface GameState<Position = unknown> extends State {
  readonly position: Position;
  /** Names the draws of games with chance, together with the turn. */
  readonly seed: number;
  /** Responses after which the game is over. */
  readonly maxTurns: number;
  /** Responses that changed nothing because they were unreadable or not allowed. */
  readonly refused: number;
}

/** Result of a game. */
export interface GameOutcome {
  /** From 0 to 1. */
  readonly score: number;
  /** Whether the score is 1. */
  readonly isSolved: boolean;
  /** Responses of the policy. */
  readonly turns: number;
  /** Responses that were unreadable or not allowed. */
  readonly refused: number;
}

/** What the metadata of every game's tasks has. */
export interface GameSetup {
  /** Responses after which the game is over. */
  readonly maxTurns: number;
}

export const gameTasksSchema = z.strictObject({
  /** Number of tasks. */
  count: z.int().min(1).max(1_000_000),
  /** From 0, the easiest, to 1. Each game says what it changes. Default 0.5. */
  difficulty: z.number().min(0).max(1).default(0.5),
  /** Names the random stream of the draws. Default `'stock'`. */
  seed: z.string().default('stock'),
});

/** Options of a game's `tasks`. */
export interface GameTasksOptions extends z.input<typeof gameTasksSchema> {}

/**
 * Rules of a game, as pure functions over positions. A position is JSON. {@link gameEnvironment} makes an environment of it.
 *
 * `Setup` is the metadata of its tasks.
 */
export interface Game<
  Setup extends GameSetup,
  Position,
  Options extends GameTasksOptions = GameTasksOptions,
> {
  /** Kebab-case. Begins the ids of its tasks. */
  readonly name: string;
  /** Schema of the tasks' metadata. Tasks from a file are checked with it. */
  readonly setup: z.ZodType<Setup>;
  /** Tools that the policy can call. Default none. */
  readonly tools?: readonly Tool<GameState<Position>>[];
  /**
   * Seeded tasks. The prompt of a task holds the rules and how to answer.
   *
   * @throws OptionsError naming every problem at once.
   */
  tasks(options: Options): Task<Setup>[];
  /** First position. */
  start(setup: Setup): Position;
  /**
   * The position after the policy wrote `text`, or why it changes nothing. Never throws, whatever the text.
   *
   * @param text - The answer in the response, by `read`.
   */
  play(
    position: Position,
    text: string,
    context: PlayContext,
  ): Position | Refusal | Promise<Position | Refusal>;
  /** The answer in a response. Default: what stands in the last `<answer>`, or else the last line. */
  read?(response: string): string;
  /** Everything the policy may know of a position. */
  view(position: Position): string;
  /** What is new in a position, for a policy that sees the earlier ones too. Default the view. */
  news?(position: Position): string;
  isOver(position: Position): boolean;
  /** How well the game went, from 0 to 1. 1 is a solved game. */
  score(position: Position): number;
  /** Equal for positions that are the same to the policy, and short. Default the view. */
  key?(position: Position): string;
  /** What a good policy writes in a position: the reference that others are compared with. */
  solve(position: Position): string;
}

const method = callback<Method>();
type Method = (...given: never[]) => unknown;

/** Schema of what an environment needs of a {@link Game}. */
export const rulesSchema = z.looseObject(
  {
    name: z.string().min(1),
    setup: having<z.ZodType>('safeParse', 'a zod schema of the metadata of tasks'),
    ...{ start: method, play: method, view: method, isOver: method, score: method },
    ...{ read: method.optional(), news: method.optional(), key: method.optional() },
    tools: z.array(having<Tool>('run', 'a tool; tool({ … }) makes one of a function')).optional(),
  },
  'must be a game, such as sokoban, or your own rules',
);

/** Makes the tasks of a game. */
export function gameTasks<Setup extends GameSetup>(
  name: string,
  options: GameTasksOptions,
  draw: (random: RandomStream, difficulty: number) => { readonly prompt: string; readonly setup: Setup },
): Task<Setup>[] {
  const { count, difficulty, seed } = parseOptions(
    `${name}.tasks`,
    gameTasksSchema,
    options,
    'GameTasksOptions',
  );
  return Array.from({ length: count }, (_, index) => {
    const { prompt, setup } = draw(RandomStream.named(seed, name, difficulty, index), difficulty);
    return { id: `${name}/${seed}/${difficulty}/${index}`, prompt, metadata: setup };
  });
}

/** The word that the text is, or begins with one letter, but for marks around it. `undefined` if it is none of them. */
export function wordIn<Word extends string>(text: string, words: readonly Word[]): Word | undefined {
  const said = bare(text);
  return (
    words.find((word) => word === said) ??
    (said.length === 1 ? words.find((word) => word[0] === said) : undefined)
  );
}

/** Text in small letters, without marks around it such as `**` or a full stop. */
export function bare(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[^a-z0-9]+/, '')
    .replace(/[^a-z0-9]+$/, '');
}
