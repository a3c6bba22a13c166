import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { reasoningFamilies, reasoningTasks } from './reasoning/index.ts';
import { codeGame } from './stock/code.ts';
import * as stock from './stock/index.ts';

const games = [
  ...[
    stock.adventure,
    stock.arithmetic,
    stock.calculator,
    stock.countdown,
    stock.frozenLake,
    stock.keyAndDoor,
  ],
  ...[stock.libraryDesk, stock.mastermind, stock.shop, stock.sokoban, stock.sorting, stock.sqlQuestions],
  ...[stock.sudoku, stock.wordle],
];

const difficulties = [0, 0.3, 0.45, 0.6, 1];
const digest = (tasks: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(tasks)).digest('hex').slice(0, 12);

// A run that is repeated or resumed with a later version has to see the tasks that it saw. If this fails because tasks were meant to
// change, say so in the release notes.
it('draws the same reasoning tasks from a seed in every version', () => {
  const found = reasoningFamilies.map((family) => [
    family,
    digest(
      difficulties.flatMap((difficulty) =>
        reasoningTasks({ count: 40, families: [family], difficulty, seed: 'pinned' }),
      ),
    ),
  ]);
  expect(Object.fromEntries(found)).toMatchInlineSnapshot(`
    {
      "base-conversion": "d33ada13ea53",
      "brackets": "ee9c6420036a",
      "caesar": "eea88b4196ab",
      "chain-sum": "d2daf8a16c50",
      "clock-time": "be5855982726",
      "count-letters": "84487f73391e",
      "date-arithmetic": "cedf474e47be",
      "family-relations": "b4b7ae74417f",
      "game-of-life": "f13b3c2610bc",
      "gcd": "4fb5270253a7",
      "heading": "fb31f9e33210",
      "islands": "c3f18dafd516",
      "knights-and-knaves": "f50ffee77076",
      "lcm": "bf4720fb8fe2",
      "linear-equation": "d8459e944f0c",
      "number-sequence": "89df317bbd83",
      "polynomial": "52cb520d5246",
      "prime-factors": "a305f81069de",
      "remainder": "4e4867eacf44",
      "reverse-text": "608f8538d560",
      "rewriting": "6c8900b5d9c6",
      "rotate-grid": "edcc5940702a",
      "route": "dc6f906e1523",
      "sets": "889ac15cedff",
      "shortest-path": "25d3d745c1c9",
      "sort-words": "4febc6f9f03c",
      "syllogism": "423271c3898a",
      "truth-table": "6bc378cd7e24",
      "unit-conversion": "03b4021fffe8",
      "unscramble": "71ed6566133a",
      "weekday": "de1321dbf9b2",
      "where-am-i": "04433719f886",
    }
  `);
});

it('draws the same games from a seed in every version', () => {
  const found = games.map((game) => [
    game.name,
    digest(
      difficulties.flatMap((difficulty): unknown[] => game.tasks({ count: 8, difficulty, seed: 'pinned' })),
    ),
  ]);
  expect(Object.fromEntries(found)).toMatchInlineSnapshot(`
    {
      "adventure": "6163d19238b1",
      "arithmetic": "51ed3d15822d",
      "calculator": "553017cf227e",
      "countdown": "8ce394175117",
      "frozen-lake": "9593bcd808c9",
      "key-and-door": "d1f937bfdeae",
      "library-desk": "3be1029587ce",
      "mastermind": "ba58512d36f5",
      "shop": "e2a681bb84ca",
      "sokoban": "dce1fdb0dc9b",
      "sorting": "a21e9620af7c",
      "sql-questions": "4d3cd86e2193",
      "sudoku": "75729db57398",
      "wordle": "de51ab69f214",
    }
  `);
});

it('draws the same tasks for other options from a seed in every version', () => {
  const code = codeGame(() => Promise.reject(new Error('no program runs here')));
  const given = { count: 8, seed: 'pinned' };
  const found = {
    code: difficulties.flatMap((difficulty) => code.tasks({ ...given, difficulty })),
    'slippery ice': stock.frozenLake.tasks({ ...given, successRate: 0.8 }),
    'one lake': stock.frozenLake.tasks({ ...given, lake: 'one' }),
    'another member': stock.libraryDesk.tasks({ ...given, user: 'outside' }),
    'many families': reasoningTasks({ count: 60, weights: { gcd: 3, lcm: 0 } }),
    'default difficulty': stock.sokoban.tasks({ count: 2 }),
  };
  expect(
    Object.entries(found).map(([name, tasks]) => [name, digest(tasks), tasks[1]?.id]),
  ).toMatchInlineSnapshot(`
    [
      [
        "code",
        "402058ee6fff",
        "code/pinned/0/1",
      ],
      [
        "slippery ice",
        "15d492bbc58b",
        "frozen-lake-0.8/pinned/0.5/1",
      ],
      [
        "one lake",
        "7b4bafc4d0c1",
        "frozen-lake/pinned/0.5/1",
      ],
      [
        "another member",
        "fafb6a2d9220",
        "library-desk/pinned/0.5/1",
      ],
      [
        "many families",
        "3406b23a5b70",
        "reasoning/reasoning/0.5/1",
      ],
      [
        "default difficulty",
        "ad19b94a280e",
        "sokoban/stock/0.5/1",
      ],
    ]
  `);
});
