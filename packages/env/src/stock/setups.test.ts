import { EnvironmentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { codeGame } from './code.ts';
import {
  adventure,
  arithmetic,
  calculator,
  countdown,
  frozenLake,
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

type Fields = Readonly<Record<string, unknown>>;
/** A setup, changes of it that are at the edge of what is allowed, and changes beyond with the start of what is said. */
type Bounds = readonly [game: unknown, setup: Fields, fits: readonly Fields[], not: readonly Refused[]];
type Refused = readonly [change: Fields, problem: string];

const times = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const room = (exits: Fields = {}) => ({ name: 'hall', exits });
const member = { card: '1', name: 'Ada', fees: 0 };
const book = { id: 'b1', title: 'Dune', borrower: null, renewals: 0, reservedBy: null };
const wish = { kind: 'mug', attributes: [], choices: {}, maxPrice: 0.01 };
const database = (change: { members?: unknown; books?: unknown }) => ({
  database: { members: [member], books: [book], ...change },
});

const bounds: Readonly<Record<string, Bounds>> = {
  adventure: [
    adventure,
    { rooms: [room({ east: 1 }), room()], things: { cup: 0 }, locks: {}, wanted: 'cup', goal: 1 },
    [
      { goal: 0 },
      { things: { cup: 1 } },
      { rooms: times(30, room({ south: 29 })) },
      { rooms: [room({ north: 1, east: 1, south: 1, west: 1 }), room()] },
    ],
    [
      [{ rooms: [] }, 'rooms: '],
      [{ rooms: times(31, room()) }, 'rooms: '],
      [{ rooms: [{ ...room(), name: '' }, room()] }, 'rooms.0.name: '],
      [{ rooms: [room({ up: 1 }), room()] }, 'rooms.0.exits'],
      [{ rooms: [room({ east: -1 }), room()] }, 'rooms.0.exits.east: '],
      [{ rooms: [room(), room({ west: 2 })] }, 'metadata: exits must lead to rooms that exist'],
      [{ things: { cup: -1 } }, 'things.cup: '],
      [{ things: { cup: 0, hat: 2 } }, 'metadata: goal and things must be in rooms that exist'],
      [{ goal: 2 }, 'metadata: goal and things must be in rooms that exist'],
      [{ goal: -1 }, 'goal: '],
      [{ wanted: 'toString' }, 'metadata: wanted must be one of the things'],
    ],
  ],
  arithmetic: [
    arithmetic,
    { expression: '1 + 1' },
    [{ expression: '(1)' }],
    [
      [{ expression: '' }, 'expression: '],
      [{ expression: '1 +' }, 'metadata: expression must have + - * / and whole numbers'],
    ],
  ],
  calculator: [
    calculator,
    { expression: '1 / 2' },
    [],
    [[{ expression: '2 ^ 2' }, 'metadata: expression must']],
  ],
  code: [
    codeGame(() => Promise.reject(new Error('not run'))),
    { name: 'f', tests: ['assert(f());'], solution: '' },
    [{ name: 'F_1' }],
    [
      [{ name: '1f' }, 'name: '],
      [{ name: 'f-g' }, 'name: '],
      [{ name: 'f g' }, 'name: '],
      [{ tests: [] }, 'tests: '],
    ],
  ],
  countdown: [
    countdown,
    { numbers: [1, 999], target: 1 },
    [{ numbers: times(6, 1) }],
    [
      [{ numbers: [5] }, 'numbers: '],
      [{ numbers: times(7, 1) }, 'numbers: '],
      [{ numbers: [0, 1] }, 'numbers.0: '],
      [{ numbers: [1, 1000] }, 'numbers.1: '],
      [{ target: 0 }, 'target: '],
    ],
  ],
  'frozen-lake': [
    frozenLake,
    { rows: ['SFHG'], successRate: 1 },
    [{ successRate: 0 }, { rows: ['GG', 'GS'] }],
    [
      [{ rows: [] }, 'rows: '],
      [{ rows: ['SXG'] }, 'rows.0: must consist of S, F, H and G'],
      [{ rows: ['SG '] }, 'rows.0: must consist of S, F, H and G'],
      [{ rows: ['SG', 'F'] }, 'metadata: rows must have one length'],
      [{ rows: ['FS', 'SG'] }, 'metadata: rows must have one S'],
      [{ rows: ['FG'] }, 'metadata: rows must have one S'],
      [{ rows: ['SF'] }, 'metadata: rows must have a G'],
      [{ successRate: -0.01 }, 'successRate: '],
      [{ successRate: 1.01 }, 'successRate: '],
    ],
  ],
  'key-and-door': [
    keyAndDoor,
    { rows: ['SKDG'] },
    [{ rows: ['SK.G'] }, { rows: ['SKDG', 'D#..'] }],
    [
      [{ rows: [] }, 'rows: '],
      [{ rows: ['SKHG'] }, 'rows.0: must consist of #, ., S, K, D and G'],
      [{ rows: [' SKG'] }, 'rows.0: must consist of #, ., S, K, D and G'],
      [{ rows: ['SKG', '#'] }, 'metadata: rows must have one length'],
      ...['SSKG', 'SKKG', 'SKGG', '.KDG', 'S.DG', 'SKD.'].map(
        (row) => [{ rows: [row] }, 'metadata: rows must have one S, one K and one G'] as const,
      ),
    ],
  ],
  'library-desk': [
    libraryDesk,
    { ...database({}), card: '1', requests: [{ kind: 'borrow', title: 'Dune' }], user: 'outside' },
    [{ user: 'scripted' }, { user: undefined }, database({ members: [{ ...member, fees: 0.5 }] })],
    [
      [{ requests: [] }, 'requests: '],
      [{ requests: [{ kind: 'steal', title: 'Dune' }] }, 'requests.0.kind: '],
      [{ user: 'nobody' }, 'user: '],
      [database({ members: [] }), 'database.members: '],
      [database({ books: [] }), 'database.books: '],
      [database({ members: [{ ...member, fees: -0.01 }] }), 'database.members.0.fees: '],
      [database({ books: [{ ...book, renewals: -1 }] }), 'database.books.0.renewals: '],
      [database({ books: [{ ...book, borrower: 7 }] }), 'database.books.0.borrower: '],
      [database({ books: [{ ...book, author: 'x' }] }), 'database.books.0: '],
    ],
  ],
  mastermind: [
    mastermind,
    { secret: [1], colors: 2 },
    [{ secret: [2] }, { secret: times(8, 9), colors: 9 }],
    [
      [{ secret: [] }, 'secret: '],
      [{ secret: times(9, 1) }, 'secret: '],
      [{ secret: [0] }, 'secret.0: '],
      [{ secret: [10], colors: 9 }, 'secret.0: '],
      [{ secret: [1, 3] }, 'metadata: secret must have digits up to colors'],
      [{ colors: 1 }, 'colors: '],
      [{ colors: 10 }, 'colors: '],
    ],
  ],
  shop: [
    shop,
    { catalogue: '', products: 1, wish },
    [{ products: 1000 }],
    [
      [{ products: 0 }, 'products: '],
      [{ products: 1001 }, 'products: '],
      [{ wish: { ...wish, kind: '' } }, 'wish.kind: '],
      [{ wish: { ...wish, maxPrice: 0 } }, 'wish.maxPrice: '],
      [{ wish: { ...wish, color: 'red' } }, 'wish: '],
    ],
  ],
  sokoban: [
    sokoban,
    { rows: ['@$.'] },
    [{ rows: ['+$'] }, { rows: ['# @*'] }],
    [
      [{ rows: [] }, 'rows: '],
      [{ rows: ['@$.x'] }, 'rows.0: must consist of #, space, ., $, *, @ and +'],
      [{ rows: ['x@$.'] }, 'rows.0: must consist of #, space, ., $, *, @ and +'],
      [{ rows: ['$.'] }, 'metadata: rows must have one player'],
      [{ rows: ['@+$'] }, 'metadata: rows must have one player'],
      [{ rows: ['@$'] }, 'metadata: rows must have as many targets as boxes'],
      [{ rows: ['@$*'] }, 'metadata: rows must have as many targets as boxes'],
      [{ rows: ['+$.'] }, 'metadata: rows must have as many targets as boxes'],
      [{ rows: ['@$.', '#'] }, 'metadata: rows must have one length'],
    ],
  ],
  sorting: [
    sorting,
    { numbers: [2, -1] },
    [{ numbers: upTo(100) }],
    [
      [{ numbers: [1] }, 'numbers: '],
      [{ numbers: upTo(101) }, 'numbers: '],
      [{ numbers: [1, 2, 1] }, 'metadata: numbers must differ'],
    ],
  ],
  'sql-questions': [
    sqlQuestions,
    { sql: 's', question: 'q', answer: 'a', query: 'q' },
    [],
    ['sql', 'question', 'answer', 'query'].map((name) => [{ [name]: '' }, `${name}: `] as const),
  ],
  sudoku: [
    sudoku,
    { givens: '0234341221434321' },
    [{ givens: '1234341221434321' }],
    [
      [{ givens: '023434122143432' }, 'givens: must be 16 digits from 0 to 4'],
      [{ givens: '02343412214343211' }, 'givens: must be 16 digits from 0 to 4'],
      [{ givens: '5234341221434321' }, 'givens: must be 16 digits from 0 to 4'],
      [{ givens: '0'.repeat(16) }, 'metadata: givens must have exactly one solution'],
      // The first cell would need a digit that its column has.
      [{ givens: '0234102223344021' }, 'metadata: givens must have exactly one solution'],
    ],
  ],
  wordle: [
    wordle,
    { secret: 'qqqqq' },
    [],
    ['four', 'sixsix', 'Upper', 'fiv3s'].map(
      (secret) => [{ secret }, 'secret: must be five small letters'] as const,
    ),
  ],
};

describe.each(Object.entries(bounds))('the setup of %s', (name, [game, setup, fits, not]) => {
  const environment = gameEnvironment(game as typeof wordle);
  const begin = (change: Fields) =>
    environment.reset({ id: 'x', prompt: '', metadata: { maxTurns: 1, ...setup, ...change } as never }, 1);

  it('takes what is just allowed', async () => {
    for (const change of [{}, ...fits])
      expect(await begin(change), JSON.stringify(change)).toHaveProperty('maxTurns', 1);
  });

  it('refuses what is beyond, and says where', async () => {
    const always: readonly Refused[] = [
      [{ maxTurns: 0 }, 'maxTurns: '],
      [{ maxTurns: 1.5 }, 'maxTurns: '],
      [{ turns: 9 }, 'metadata: Unrecognized'],
    ];
    for (const [change, problem] of [...always, ...not]) {
      const refused = (async () => begin(change))();
      await expect(refused, JSON.stringify(change)).rejects.toThrow(EnvironmentError);
      await expect(refused, JSON.stringify(change)).rejects.toThrow(
        `task "x" is not a task of ${name}: ${problem}`,
      );
    }
  });
});

it('tasks take the edges of their options, and refuse what is beyond', () => {
  for (const game of [wordle, frozenLake, libraryDesk] as const) {
    for (const difficulty of [0, 1]) expect(game.tasks({ count: 1, difficulty })).toHaveLength(1);
    for (const wrong of [
      { count: 0 },
      { count: 1_000_001 },
      { count: 1.5 },
      { count: 1, difficulty: -0.01 },
      { count: 1, difficulty: 1.01 },
      { count: 1, seed: 7 as never },
    ])
      expect(() => game.tasks(wrong), JSON.stringify(wrong)).toThrow(
        new RegExp(`\\.tasks: [\\s\\S]*${Object.keys(wrong).at(-1)}`),
      );
  }
  for (const successRate of [0, 1]) expect(frozenLake.tasks({ count: 1, successRate })).toHaveLength(1);
  for (const wrong of [{ successRate: -0.01 }, { successRate: 1.01 }, { lake: 'two' as never }])
    expect(() => frozenLake.tasks({ count: 1, ...wrong })).toThrow(
      /frozenLake\.tasks: [\s\S]*(successRate|lake)/,
    );
  expect(() => libraryDesk.tasks({ count: 1, user: 'nobody' as never })).toThrow(
    /libraryDesk\.tasks: [\s\S]*user/,
  );
});
