import type { OptionsError, Task } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { evaluate, fractionText } from './expression.ts';
import {
  arithmetic,
  calculator,
  countdown,
  type FrozenLakeSetup,
  frozenLake,
  type GameOutcome,
  gameEnvironment,
  keyAndDoor,
  mastermind,
  sokoban,
  sudoku,
  wordle,
} from './index.ts';
import { say } from './say.fixture.ts';

describe('gameEnvironment', () => {
  const lake: FrozenLakeSetup = { maxTurns: 9, rows: ['SF', 'FG'], successRate: 1 };

  it('names all that a game and the options lack at once', () => {
    const issuesOf = (game: unknown, options?: unknown) => {
      try {
        gameEnvironment(game as never, options as never);
      } catch (error) {
        return (error as OptionsError).issues;
      }
      return [];
    };
    const needed = [
      'name: expected text, got nothing',
      'setup: must be a zod schema of the metadata of tasks',
    ];
    const methods = ['start', 'play', 'view', 'isOver', 'score'].map((name) => `${name}: must be a function`);
    expect(issuesOf({})).toEqual([...needed, ...methods].map((problem) => `game.${problem}`));
    expect(issuesOf(undefined)).toEqual(['game: must be a game, such as sokoban, or your own rules']);
    expect(issuesOf({ ...frozenLake, key: 'view', tools: [{}] }, { promt: 'key' })).toEqual([
      'game.key: must be a function',
      'game.tools.0: must be a tool; tool({ … }) makes one of a function',
      'options: Unrecognized option "promt"; did you mean options.prompt?',
    ]);
  });

  it('shows a conversation, a view or a key', async () => {
    const task: Task<FrozenLakeSetup> = { id: 'a', prompt: 'Rules.', metadata: lake };
    const shown = async (prompt: 'conversation' | 'view' | 'key') => {
      const environment = gameEnvironment(frozenLake, { prompt });
      const first = await environment.reset(task, 1);
      const next = await environment.updateState(first, 'd');
      return [environment.buildPrompt(first), environment.buildPrompt(next), environment.stateKey!(next)];
    };
    expect(await shown('key')).toEqual(['0', '2', '2']);
    expect(await shown('view')).toEqual(['@F\nFG', 'SF\n@G', '2']);
    expect(await shown('conversation')).toEqual([
      [{ role: 'user', content: 'Rules.\n\n@F\nFG' }],
      [
        { role: 'user', content: 'Rules.\n\n@F\nFG' },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: 'SF\n@G' },
      ],
      '2',
    ]);
  });

  it('shows the first view below the rules, or alone where the prompt has no words of a user', async () => {
    const begun = async (prompt: Task['prompt']) => {
      const environment = gameEnvironment(frozenLake);
      return environment.buildPrompt(await environment.reset({ id: 'a', prompt, metadata: lake }, 1));
    };
    const system = { role: 'system', content: 'Rules.' } as const;
    const view = '@F\nFG';
    expect(await begun([system])).toEqual([system, { role: 'user', content: view }]);
    expect(await begun([])).toEqual([{ role: 'user', content: view }]);
    expect(await begun([system, { role: 'user', content: 'Go.' }])).toEqual([
      system,
      { role: 'user', content: `Go.\n\n${view}` },
    ]);
  });

  it('reads the last answer, or else the last line, by word or letter', async () => {
    for (const response of [
      'down',
      'D',
      'I think:\n\n down \n',
      '<answer>up</answer> no, <answer> DOWN </answer>.',
      '**Down**.',
    ])
      expect((await say(frozenLake, lake, [response])).state.position.cell, response).toEqual([1, 0]);
    for (const response of ['go down', 'dow', 'down up', '1', 'down</answer>', '__proto__', 'toString']) {
      const { state, heard } = await say(frozenLake, lake, [response]);
      expect([state.position.cell, state.refused], response).toEqual([[0, 0], 1]);
      expect(heard).toContain('Expected one of left, down, right, up');
    }
  });

  it('has a typed outcome and position', async () => {
    const environment = gameEnvironment(keyAndDoor);
    const state = await environment.reset(keyAndDoor.tasks({ count: 1 })[0]!, 1);
    expectTypeOf(state.position.hasKey).toEqualTypeOf<boolean>();
    expectTypeOf(environment.outcome!(state)).toEqualTypeOf<GameOutcome>();
  });

  it('begins where the lake says', async () => {
    const { heard } = await say(frozenLake, { maxTurns: 9, rows: ['FS', 'GF'], successRate: 1 }, ['down']);
    expect(heard).toBe('FS\nG@');
  });

  it.each<[string, unknown]>([
    ['no start', { maxTurns: 1, rows: ['FG'], successRate: 1 }],
    ['no goal', { maxTurns: 1, rows: ['SF'], successRate: 1 }],
    ['ragged', { maxTurns: 1, rows: ['SFG', 'F'], successRate: 1 }],
    ['a misspelt field', { maxTurns: 1, rows: ['SG'], successRate: 1, sucessRate: 1 }],
    ['nothing', undefined],
  ])('refuses a lake with %s', (_, metadata) => {
    const reset = () =>
      gameEnvironment(frozenLake).reset({ id: 'x', prompt: '', metadata: metadata as FrozenLakeSetup }, 1);
    expect(reset).toThrow('task "x" is not a task of frozen-lake');
  });

  it('gives all tasks one lake when asked, and lakes with a way', () => {
    const tasks = frozenLake.tasks({ count: 5, lake: 'one' });
    expect(new Set(tasks.map(({ metadata }) => metadata)).size).toBe(1);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(5);
    expect(() => frozenLake.tasks({ count: 1, successRate: 2, slippery: true } as never)).toThrow(
      /successRate[\s\S]*slippery/,
    );
  });
});

describe('puzzles', () => {
  it('takes any expression of all numbers, exactly', async () => {
    const setup = { maxTurns: 3, numbers: [3, 3, 8, 8], target: 24 };
    expect((await say(countdown, setup, ['8 / (3 - 8 / 3)'])).outcome.isSolved).toBe(true);
    expect((await say(countdown, setup, ['8/(3-8/3) = 24'])).outcome.isSolved).toBe(true);
    expect((await say(countdown, setup, [countdown.solve(countdown.start(setup))])).outcome.isSolved).toBe(
      true,
    );
    expect((await say(countdown, setup, ['3 * 8', '24', '3 + 3 + 8 + 8'])).outcome).toMatchObject({
      score: 0.1,
      refused: 2,
    });
    for (const cheat of ['24', '3*8+0*3*8', '(3*8)+(3-3)*8', '8/(3-8/3)+1-1', '33 - 8 - 8', '3 8 3 8', '1e1'])
      expect((await say(countdown, setup, [cheat])).outcome.score, cheat).toBe(0);
  });

  it('evaluates expressions as JavaScript does, where that is exact', () => {
    const leaf = fc.integer({ min: 0, max: 99 }).map(String);
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc
          .tuple(tie('tree'), fc.constantFrom('+', '-', '*'), tie('tree'))
          .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
        tie('tree').map((inner) => `-(${inner})`),
      ),
    }));
    fc.assert(
      fc.property(tree, (text) => {
        const evaluated = evaluate(text);
        const [value, expected] = [
          typeof evaluated === 'string' ? Number.NaN : Number(fractionText(evaluated.value)),
          jsValue(text),
        ];
        return value === expected || Math.abs(expected) > 2 ** 53;
      }),
      { numRuns: 300 },
    );
  });

  it('takes numbers in any common form, once', async () => {
    const setup = { maxTurns: 1, expression: '1200 - 7 * 300' };
    for (const answer of ['-900', '−900', '-900.0', ' -0900 ', '<answer>-900</answer>'])
      expect((await say(arithmetic, setup, [answer])).outcome.isSolved, answer).toBe(true);
    for (const answer of ['900', '-900 or 900', '1200 - 7 * 300', '-9e2', '-900\n900'])
      expect((await say(arithmetic, setup, [answer])).outcome.isSolved, answer).toBe(false);
  });

  it('computes with the calculator, and reads its errors', async () => {
    const setup = { maxTurns: 4, expression: '12 * (3 + 4)' };
    const call = (expression: string) =>
      `<tool_call>${JSON.stringify({ name: 'calculator', arguments: { expression } })}</tool_call>`;
    const environment = gameEnvironment(calculator);
    let state = await environment.reset({ id: 'c', prompt: 'Compute.', metadata: setup }, 1);
    for (const response of [call('12 * )'), call('12 * (3 + 4)')])
      state = await environment.updateState(state, response);
    const said = environment.buildPrompt(state) as readonly { content: string }[];
    expect(said.at(-1)!.content).toBe('84');
    expect(said.at(-3)!.content).toContain('is not a number');
    expect(environment.outcome!(await environment.updateState(state, '84'))).toMatchObject({
      isSolved: true,
      turns: 3,
    });
    expect(environment.tools!(state).map((tool) => tool.function.name)).toEqual(['calculator']);
  });

  it('ends a game of only tool calls by its turns', async () => {
    const environment = gameEnvironment(calculator);
    let state = await environment.reset(
      { id: 'c', prompt: 'Compute.', metadata: { maxTurns: 4, expression: '1 + 1' } },
      1,
    );
    for (let turn = 0; turn < 4; turn++) {
      expect(environment.isTerminal(state)).toBe(false);
      state = await environment.updateState(
        state,
        '<tool_call>{"name": "calculator", "arguments": {}}</tool_call>',
      );
    }
    expect([environment.isTerminal(state), environment.termination!(state)]).toEqual([
      true,
      { reason: 'turns' },
    ]);
  });

  it('solves a warehouse along its rows and along its columns', () => {
    const along = ['######', '#@$ .#', '#    #', '######'];
    const turned = [...along[0]!].map((_, column) => along.map((row) => row[column]).join(''));
    expect(sokoban.solve(sokoban.start({ maxTurns: 3, rows: along }))).toBe('right');
    expect(sokoban.solve(sokoban.start({ maxTurns: 3, rows: turned }))).toBe('down');
  });

  it('empties as many cells of a square as the difficulty says', () => {
    const emptyAt = (difficulty: number) =>
      sudoku
        .tasks({ count: 5, difficulty })
        .map(({ metadata: { givens } }) => [...givens].filter((digit) => digit === '0').length);
    expect(emptyAt(0)).toEqual([4, 4, 4, 4, 4]);
    for (const empty of emptyAt(1)) expect(empty).toBeLessThanOrEqual(10);
    expect(Math.max(...emptyAt(1))).toBeGreaterThan(8);
  });

  it('never tells the secret', () => {
    for (const game of [wordle, mastermind] as const)
      for (const { prompt, metadata } of game.tasks({ count: 20 }))
        expect(String(prompt)).not.toContain([...(metadata.secret as string | number[])].join(''));
  });
});

/** Value of sums and products by the rules of JavaScript's own parser, through JSON-safe recursion. */
function jsValue(text: string): number {
  // The trees above have parentheses around every operation.
  const inner = /^\((.*)\)$/s.exec(text)?.[1];
  if (text.startsWith('-(')) return 0 - jsValue(text.slice(2, -1));
  if (inner === undefined) return Number(text);
  let depth = 0;
  for (let place = 0; place < inner.length; place++) {
    if (inner[place] === '(') depth++;
    if (inner[place] === ')') depth--;
    if (depth > 0 || inner[place] !== ' ') continue;
    const [left, operator, right] = [inner.slice(0, place), inner[place + 1], inner.slice(place + 3)];
    const [a, b] = [jsValue(left), jsValue(right)];
    return operator === '+' ? a + b : operator === '-' ? a - b : a * b;
  }
  return Number.NaN;
}
