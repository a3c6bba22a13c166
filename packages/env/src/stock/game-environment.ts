import {
  type Environment,
  EnvironmentError,
  type Message,
  parseOptions,
  promptMessages,
  RandomStream,
  type Task,
} from '@rlp/core';
import * as z from 'zod';
import { answerIn } from '../answer-in.ts';
import { withTools } from '../tools/with-tools.ts';
import {
  type Game,
  type GameOutcome,
  type GameSetup,
  type GameState,
  type Refusal,
  rulesSchema,
} from './game.ts';

const schema = z.strictObject({
  /**
   * What the policy sees. `'conversation'`: the rules, and every turn so far. `'view'`: the position alone, as text. `'key'`: the
   * position's key alone, for tables and very small models. Default `'conversation'`.
   */
  prompt: z.enum(['conversation', 'view', 'key']).default('conversation'),
});

const given = z.strictObject({ game: rulesSchema, options: schema });

/** Options of {@link gameEnvironment}. */
export interface GameEnvironmentOptions extends z.input<typeof schema> {}

/**
 * The environment of a game.
 *
 * A response that cannot be read or is not allowed takes a turn and changes nothing. In a conversation the policy reads why. Chance is
 * drawn by the seed of the episode and the turn, so a replay and a fork see the same draws. Metrics: `game/score`, `game/solved`,
 * `game/refused`.
 *
 * @throws OptionsError naming every problem at once.
 */
export function gameEnvironment<Setup extends GameSetup, Position>(
  game: Rules<Setup, Position>,
  options: GameEnvironmentOptions = {},
): Environment<GameState<Position>, Setup, GameOutcome> {
  const { prompt } = parseOptions('gameEnvironment', given, { game, options }).options;
  const key = (position: Position) => game.key?.(position) ?? game.view(position);
  const shown = (position: Position) => (prompt === 'key' ? key(position) : game.view(position));
  const environment: Environment<GameState<Position>, Setup, GameOutcome> = {
    reset: (task, seed) => {
      const setup = checkedSetup(game, task);
      const position = game.start(setup);
      const opening = prompt === 'conversation' ? opened(task.prompt, game.view(position)) : shown(position);
      const { maxTurns } = setup;
      return { prompt: opening, response: '', stepCount: 0, position, seed, maxTurns, refused: 0 };
    },
    buildPrompt: ({ prompt: seen }) => seen,
    updateState: (state, response, context) => {
      const chance = RandomStream.named(game.name, state.seed, state.stepCount);
      const text = (game.read ?? answerIn)(response);
      const played = game.play(state.position, text, { chance, signal: context?.signal });
      const after = (result: Position | Refusal) => nextState(game, shown, state, response, result);
      return played instanceof Promise ? played.then(after) : after(played);
    },
    isTerminal: ({ position }) => game.isOver(position),
    stateKey: ({ position }) => key(position),
    outcome: ({ position, stepCount, refused }) => {
      const score = game.score(position);
      return { score, isSolved: score === 1, turns: stepCount, refused };
    },
    metrics: ({ position, refused }) => {
      const score = game.score(position);
      return { 'game/score': score, 'game/solved': score === 1 ? 1 : 0, 'game/refused': refused };
    },
  };
  return limited(game.tools ? withTools(environment, game.tools) : environment);
}

/** A game, whatever the options of its tasks. */
type Rules<Setup extends GameSetup, Position> = Omit<Game<Setup, Position>, 'tasks'>;

/** The state after a response that led to a position or was refused. */
function nextState<Setup extends GameSetup, Position>(
  { news, view }: Rules<Setup, Position>,
  shown: (position: Position) => string,
  state: GameState<Position>,
  response: string,
  result: Position | Refusal,
): GameState<Position> {
  const refusal = isRefusal(result) ? result.refusal : undefined;
  const position = isRefusal(result) ? state.position : result;
  const heard = () => refusal ?? news?.(position) ?? view(position);
  return {
    ...state,
    prompt: typeof state.prompt === 'string' ? shown(position) : extended(state.prompt, response, heard()),
    response,
    stepCount: state.stepCount + 1,
    position,
    refused: state.refused + (refusal === undefined ? 0 : 1),
  };
}

/** The environment, over after the turns of the task. Turns that only call tools count. */
function limited<S extends GameState, Setup>(
  environment: Environment<S, Setup, GameOutcome>,
): Environment<S, Setup, GameOutcome> {
  const { isTerminal, outcome } = environment;
  return {
    ...environment,
    isTerminal: (state) => state.stepCount >= state.maxTurns || isTerminal(state),
    outcome: (state) => ({ ...outcome!(state), turns: state.stepCount }),
    termination: (state) => (isTerminal(state) ? { reason: 'environment' } : { reason: 'turns' }),
  };
}

function isRefusal(played: unknown): played is Refusal {
  return typeof played === 'object' && played !== null && Object.hasOwn(played, 'refusal');
}

function checkedSetup<Setup extends GameSetup>(
  { name, setup }: Pick<Game<Setup, never>, 'name' | 'setup'>,
  { id, metadata }: Task<Setup>,
): Setup {
  const { data, error } = setup.safeParse(metadata);
  if (error === undefined) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'metadata'}: ${message}`);
  throw new EnvironmentError(
    `task "${id}" is not a task of ${name}: ${problems.join('; ')}. Make tasks with ${name}'s \`tasks\``,
  );
}

/** The rules and the first view. They are one message, because many chat templates want roles to alternate. */
function opened(prompt: string | readonly Message[], view: string): readonly Message[] {
  const messages = promptMessages(prompt);
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: view }];
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${view}` }];
}

function extended(messages: readonly Message[], response: string, news: string): readonly Message[] {
  return [...messages, { role: 'assistant', content: response }, { role: 'user', content: news }];
}
