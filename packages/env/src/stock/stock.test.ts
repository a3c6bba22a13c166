import { type Environment, EnvironmentError, RandomStream, type Task } from '@rlp/core';
import { describeEnvironment } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import {
  adventure,
  arithmetic,
  calculator,
  countdown,
  frozenLake,
  type Game,
  type GameOutcome,
  type GameSetup,
  type GameState,
  type GameTasksOptions,
  gameEnvironment,
  keyAndDoor,
  libraryDesk,
  mastermind,
  shop,
  sokoban,
  sorting,
  sqlQuestions,
  sudoku,
  wordle,
} from './index.ts';

/** A game with the types of its setup and positions forgotten. */
interface AnyGame {
  readonly name: string;
  tasks(options: GameTasksOptions): Task<GameSetup>[];
  environment(prompt: 'conversation' | 'view' | 'key'): Environment<GameState, GameSetup, GameOutcome>;
  solve(position: unknown): string;
}

function any<Setup extends GameSetup, Position>(game: Game<Setup, Position>): AnyGame {
  return {
    name: game.name,
    tasks: (options) => game.tasks(options),
    environment: (prompt) =>
      gameEnvironment(game, { prompt }) as unknown as Environment<GameState, GameSetup, GameOutcome>,
    solve: (position) => game.solve(position as Position),
  };
}

const games: readonly AnyGame[] = [
  ...[any(adventure), any(arithmetic), any(calculator), any(countdown), any(frozenLake), any(keyAndDoor)],
  ...[
    any(libraryDesk),
    any(mastermind),
    any(shop),
    any(sokoban),
    any(sorting),
    any(sudoku),
    any(wordle),
    any(sqlQuestions),
  ],
];

/** Tasks of each game and difficulty that its solver has to solve. */
const count = process.env.RLP_SLOW_TESTS ? 100 : 15;

const garbage = [
  '',
  ' \n\n ',
  'x'.repeat(10_000_000),
  '</answer><answer>',
  '<answer>'.repeat(1000),
  '🧊👩‍👩‍👧‍👦\u0000\ud800',
  '{"answer": ["left", null, {"__proto__": 1}]}',
  '<answer>constructor</answer>',
  '<tool_call>{"name": "no_such_tool", "arguments": {}}</tool_call>',
  '-1e309',
  'NaN',
  '('.repeat(3000),
];

/** Plays an episode with a policy. Returns every state. */
async function play(
  environment: Environment<GameState, GameSetup, GameOutcome>,
  task: Task<GameSetup>,
  policy: (state: GameState) => string,
): Promise<GameState[]> {
  const states = [await environment.reset(task, 11)];
  while (!environment.isTerminal(states.at(-1)!)) {
    states.push(await environment.updateState(states.at(-1)!, policy(states.at(-1)!)));
  }
  return states;
}

/** The solver, with other responses mixed in. */
function mixed(game: AnyGame, seed: number) {
  const random = RandomStream.named('mixed', seed);
  const others = ['left', 'u', 'ok', 'hello', '1', 'a b c', '<answer>down</answer>', 'buy', '3 1 2', 'look'];
  return ({ position }: GameState) => {
    const solved = game.solve(position);
    const kind = random.uniform();
    if (kind < 0.6) return solved;
    if (kind < 0.8) return others[random.integer(others.length)]!;
    return random.shuffle([...solved]).join('');
  };
}

for (const game of games) {
  const [task] = game.tasks({ count: 1, difficulty: 0.4 });
  const solution = await play(game.environment('conversation'), task!, ({ position }) =>
    game.solve(position),
  );
  const responses = ['What?', ...solution.slice(1).map(({ response }) => response)];
  describeEnvironment(`${game.name} in conversation`, {
    create: () => game.environment('conversation'),
    task: task!,
    responses,
  });
  describeEnvironment(`${game.name} by key`, {
    create: () => game.environment('key'),
    task: task!,
    responses,
  });
}

describe.each(games)('$name', (game) => {
  it.each([0, 0.5, 1])(`is solved by its solver on ${count} seeds at difficulty %d`, async (difficulty) => {
    const environment = game.environment('view');
    const tasks = game.tasks({ count, difficulty });
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(count);
    for (const task of tasks) {
      const states = await play(environment, task, ({ position }) => game.solve(position));
      expect(environment.outcome!(states.at(-1)!), task.id).toMatchObject({ isSolved: true, refused: 0 });
    }
  });

  it('draws equal tasks for equal seeds, and others for other seeds', () => {
    const draw = (seed: string) => game.tasks({ count: 5, seed });
    expect(draw('a')).toEqual(draw('a'));
    expect(game.tasks({ count: 2, seed: 'a' })).toEqual(draw('a').slice(0, 2));
    const others = draw('b').map(({ prompt, metadata }) => ({ prompt, metadata }));
    expect(draw('a').map(({ prompt, metadata }) => ({ prompt, metadata }))).not.toEqual(others);
    expect(() => game.tasks({ count: 0, dificulty: 2 } as never)).toThrow(/count[\s\S]*dificulty/);
  });

  it('has the same future from every state, its copy and its JSON', async () => {
    for (const [index, task] of game.tasks({ count: 6, difficulty: 0.3, seed: 'fork' }).entries()) {
      const environment = game.environment(index % 2 ? 'conversation' : 'view');
      const states = await play(environment, task, mixed(game, index));
      const said = states.slice(1).map(({ response }) => response);
      let calls = 0;
      const again = await play(
        game.environment(index % 2 ? 'conversation' : 'view'),
        task,
        () => said[calls++]!,
      );
      expect(again).toEqual(states);
      for (const [from, state] of states.entries()) {
        for (let copy of [structuredClone(state), JSON.parse(JSON.stringify(state)) as GameState]) {
          expect(copy).toEqual(state);
          if (from % 4 !== index % 4) continue;
          for (const response of said.slice(from)) copy = await environment.updateState(copy, response);
          expect(copy).toEqual(states.at(-1));
          expect(environment.outcome!(copy)).toEqual(environment.outcome!(states.at(-1)!));
        }
      }
    }
  });

  it('survives garbage, which never solves it', async () => {
    const environment = game.environment('view');
    for (const task of game.tasks({ count: 3, difficulty: 0.2, seed: 'garbage' })) {
      let turn = 0;
      const states = await play(environment, task, () => garbage[turn++ % garbage.length]!);
      const { isSolved, turns } = environment.outcome!(states.at(-1)!);
      expect([isSolved, turns]).toEqual([false, states.length - 1]);
    }
  });

  it('scores from 0 to 1, and 1 exactly if it is solved', async () => {
    for (const [index, task] of game.tasks({ count: 10, difficulty: 0.3, seed: 'score' }).entries()) {
      const environment = game.environment('view');
      for (const state of await play(environment, task, mixed(game, 100 + index))) {
        const { score, isSolved } = environment.outcome!(state);
        expect(score >= 0 && score <= 1).toBe(true);
        expect(isSolved).toBe(score === 1);
        expect(environment.metrics!(state)['game/score']).toBe(score);
      }
    }
  });

  it('ends by its turns with that reason, and else by itself', async () => {
    const [task] = game.tasks({ count: 1 });
    const environment = game.environment('view');
    const lost = await play(environment, task!, () => '');
    const won = await play(environment, task!, ({ position }) => game.solve(position));
    expect(environment.termination!(won.at(-1)!)).toEqual({ reason: 'environment' });
    if (lost.length - 1 === task!.metadata.maxTurns)
      expect(environment.termination!(lost.at(-1)!)).toEqual({ reason: 'turns' });
  });

  it('refuses metadata of another task by name', () => {
    const reset = async () =>
      game.environment('view').reset({ id: 'x', prompt: '', metadata: { maxTurns: 0 } }, 1);
    return expect(reset()).rejects.toThrow(EnvironmentError);
  });
});
