import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { evaluate, fractionText } from './expression.ts';
import {
  adventure,
  calculator,
  countdown,
  frozenLake,
  frozenLakeMoves,
  type Game,
  keyAndDoor,
  libraryDesk,
  mastermind,
  mastermindPegs,
  shop,
  sokoban,
  sorting,
  sudoku,
  wordle,
  wordleMarks,
} from './index.ts';
import { words } from './words.ts';

const context = { chance: RandomStream.named('unused'), signal: undefined };
type AnyGame = Game<never, never>;

/** Positions after each of the solver's moves until the game is over, the first included. */
function solved(game: AnyGame, setup: unknown): readonly never[] {
  const positions = [game.start(setup as never)];
  while (!game.isOver(positions.at(-1)!) && positions.length < 100)
    positions.push(game.play(positions.at(-1)!, game.solve(positions.at(-1)!), context) as never);
  return positions;
}

/** Fewest moves to the end, by trying all words from all positions, breadth first. */
function fewest(game: AnyGame, setup: unknown, said: readonly string[]): number {
  let now = [game.start(setup as never)];
  const seen = new Set(now.map((position) => game.key!(position)));
  for (let moves = 0; ; moves++) {
    if (now.some((position) => game.score(position) === 1)) return moves;
    const next = now
      .filter((position) => !game.isOver(position))
      .flatMap((position) => said.map((word) => game.play(position, word, context) as never))
      .filter((position) => !('refusal' in (position as object)));
    now = next.filter((position) => seen.size < seen.add(game.key!(position)).size);
  }
}

const directions = ['left', 'down', 'right', 'up'] as const;

describe('solvers', () => {
  it.each([
    ['frozenLake', frozenLake, 0.6],
    ['keyAndDoor', keyAndDoor, 0.4],
    ['sokoban', sokoban, 0],
  ] as const)('%s takes the fewest turns', (_, game, difficulty) => {
    for (const { metadata } of game.tasks({ count: 6, difficulty, seed: 'fewest' }))
      expect(solved(game as AnyGame, metadata).length - 1).toBe(
        fewest(game as AnyGame, metadata, directions),
      );
  });

  it('adventure takes the fewest commands, with every thing and way to try', () => {
    for (const { metadata } of adventure.tasks({ count: 3, difficulty: 0.3, seed: 'fewest' })) {
      const objects = ['north', 'east', 'south', 'west', ...Object.keys(metadata.things)];
      const said = ['go', 'unlock', 'take', 'drop'].flatMap((verb) => objects.map((one) => `${verb} ${one}`));
      const least = fewest(adventure as AnyGame, metadata, said);
      expect(solved(adventure as AnyGame, metadata).length - 1).toBe(least);
      expect(metadata.maxTurns).toBe(2 * least + 10);
    }
  });

  it('sorting takes one swap less than there are numbers, for each cycle', () => {
    for (const { metadata } of sorting.tasks({ count: 20, difficulty: 1, seed: 'cycles' })) {
      const places = metadata.numbers.map((number) => metadata.numbers.filter((one) => one < number).length);
      const left = new Set(places.keys());
      let cycles = 0;
      for (const first of left) {
        cycles++;
        for (let place = first; left.delete(place); place = places[place]!);
      }
      expect(solved(sorting as AnyGame, metadata).length - 1).toBe(places.length - cycles);
    }
  });

  // The policy that value iteration gives for the lake of Gymnasium's documentation, in its order: left, down, right, up.
  it('frozenLake goes where the chance to arrive is largest on slippery ice', () => {
    const rows = ['SFFF', 'FHFH', 'FFFH', 'HFFG'];
    const best = [0, 3, 3, 3, 0, -1, 0, -1, 3, 1, 0, -1, -1, 2, 1, -1];
    const chosen = best.map((direction, place) => {
      const cell = [Math.floor(place / 4), place % 4] as const;
      return direction < 0
        ? -1
        : directions.indexOf(
            frozenLake.solve({ rows, successRate: 1 / 3, cell }) as (typeof directions)[number],
          );
    });
    expect(chosen).toEqual(best);
  });

  it.each([0.5, 0.8])(
    'frozenLake has no better direction anywhere at a success rate of %d',
    (successRate) => {
      const rows = ['SFFF', 'FHFH', 'FFFH', 'HFFG'];
      const marks = rows.join('');
      const ice = [...marks].flatMap((mark, place) => ('SF'.includes(mark) ? [place] : []));
      const at = (place: number) => ({
        rows,
        successRate,
        cell: [Math.floor(place / 4), place % 4] as const,
      });
      const chosen = new Map(ice.map((place) => [place, frozenLake.solve(at(place))]));
      const arrives: number[] = [...marks].map((mark) => (mark === 'G' ? 1 : 0));
      const worth = (place: number, direction: (typeof directions)[number]) =>
        frozenLakeMoves(at(place), direction).reduce(
          (sum, { probability, cell: [row, column] }) =>
            sum + 0.99 * probability * arrives[4 * row + column]!,
          0,
        );
      // The chance to arrive that the chosen directions give, each turn counting 0.99.
      for (let sweep = 0; sweep < 300; sweep++)
        for (const place of ice) arrives[place] = worth(place, chosen.get(place) as never);
      for (const place of ice) {
        const best = Math.max(...directions.map((direction) => worth(place, direction)));
        expect(arrives[place]).toBeCloseTo(best, 6);
      }
      expect(arrives[0]).toBeGreaterThan(0.1);
    },
  );

  it('mastermind guesses the first code in the order of digits that fits all answers, after 1122', () => {
    for (const { metadata } of mastermind.tasks({ count: 3, difficulty: 0.5, seed: 'fits' })) {
      const digits = Array.from({ length: metadata.colors }, (_, index) => index + 1);
      const inOrder = digits.flatMap((a) =>
        digits.flatMap((b) => digits.flatMap((c) => digits.map((d) => [a, b, c, d]))),
      );
      const positions = solved(mastermind as AnyGame, metadata) as readonly ReturnType<
        typeof mastermind.start
      >[];
      const [first, ...guesses] = positions.at(-1)!.turns;
      expect(first?.guess).toEqual([1, 1, 2, 2]);
      for (const [index, { guess }] of guesses.entries()) {
        const told = positions[index + 1]!.turns;
        const fits = inOrder.find((code) =>
          told.every((turn) => {
            const { black, white } = mastermindPegs(code, turn.guess);
            return black === turn.black && white === turn.white;
          }),
        );
        expect(guess).toEqual(fits);
      }
    }
    expect(mastermind.solve({ secret: [1, 2, 3], colors: 4, turns: [] })).toBe('112');
  });

  it('wordle guesses a word that leaves as few others on average as any that fits', () => {
    const secret = 'table';
    const left = words.filter((word) => wordleMarks(word, 'arise') === wordleMarks(secret, 'arise'));
    const others = (guess: string) =>
      left.reduce((sum, word) => {
        const marks = wordleMarks(word, guess);
        return sum + left.filter((other) => other !== guess && wordleMarks(other, guess) === marks).length;
      }, 0);
    const guess = wordle.solve({ secret, guesses: ['arise'] });
    expect(left.length).toBeGreaterThan(2);
    expect(left.length).toBeLessThan(60);
    expect(others(guess)).toBe(Math.min(...left.map(others), ...words.slice(0, 60).map(others)));
  });

  it('sudoku fills the first empty cell, but empties a wrong one before', () => {
    const cellsOf = (position: unknown) => (position as { readonly cells: string }).cells;
    let wrongs = 0;
    for (const { metadata } of sudoku.tasks({ count: 4, difficulty: 1, seed: 'wrong' })) {
      const positions = solved(sudoku as AnyGame, metadata);
      const solution = cellsOf(positions.at(-1));
      const empty = [...metadata.givens].flatMap((digit, cell) => (digit === '0' ? [cell] : []));
      const filled = empty.map((_, index) =>
        [...metadata.givens]
          .map((digit, cell) => (empty.indexOf(cell) > index ? '0' : digit === '0' ? solution[cell] : digit))
          .join(''),
      );
      expect(positions.map(cellsOf)).toEqual([metadata.givens, ...filled]);
      for (const cell of empty) {
        for (const digit of '1234') {
          const place = `${Math.floor(cell / 4) + 1} ${(cell % 4) + 1}`;
          const next = sudoku.play(positions[0]!, `${place} ${digit}`, context) as never;
          if (digit === solution[cell] || 'refusal' in (next as object)) continue;
          wrongs++;
          expect(sudoku.solve(next)).toBe(`${place} 0`);
        }
      }
    }
    expect(wrongs).toBeGreaterThan(9);
  });

  it('countdown finds an expression wherever there is one, with each operator both ways round', () => {
    const found = (numbers: readonly number[], target: number) => {
      const text = countdown.solve({ numbers, target, isRight: false });
      const evaluated = evaluate(text);
      return typeof evaluated === 'string'
        ? evaluated
        : [evaluated.numbers.map(Number).sort(), fractionText(evaluated.value)];
    };
    for (const [a, b, target] of [
      [2, 3, 5],
      [5, 3, 2],
      [3, 5, 2],
      [3, 5, 15],
      [6, 3, 2],
      [3, 6, 2],
    ] as const)
      expect(found([a, b], target)).toEqual([[a, b].sort(), String(target)]);
    expect(found([3, 3, 8, 8], 24)).toEqual([[3, 3, 8, 8], '24']);
    expect(found([1, 5, 5, 5], 24)).toEqual([[1, 5, 5, 5], '24']);
  });

  it('shop searches for the wish, opens what fits, chooses and buys', () => {
    const wish = { kind: 'shirt', attributes: ['soft', 'slim'], choices: { color: 'red', size: 'small' } };
    const setup = { maxTurns: 9, catalogue: 'c', products: 10, wish: { ...wish, maxPrice: 26.61 } };
    const said = (price: number) => {
      const commands: string[] = [];
      let position = shop.start({ ...setup, wish: { ...setup.wish, maxPrice: price } });
      while (!shop.isOver(position) && commands.length < 6) {
        commands.push(shop.solve(position));
        position = shop.play(position, commands.at(-1)!, context) as typeof position;
      }
      return commands;
    };
    const search = 'search[soft slim shirt]';
    expect(said(26.61)).toEqual([search, 'open[p3]', 'choose[color=red]', 'choose[size=small]', 'buy']);
    // The only soft and slim shirt costs more.
    expect(new Set(said(26.6))).toEqual(new Set([search]));
  });
});

// Tasks that are drawn can be solved. Others may come from a file, and from a position that a policy spoilt.
it.each<[string, AnyGame, object, string]>([
  [
    'adventure',
    adventure as AnyGame,
    {
      ...{ room: 0, things: { cup: 1 }, unlocked: [], news: '' },
      world: {
        rooms: [
          { name: 'hall', exits: {} },
          { name: 'attic', exits: {} },
        ],
        ...{ things: { cup: 1 }, locks: {}, wanted: 'cup', goal: 0 },
      },
    },
    'look',
  ],
  ['calculator', calculator as AnyGame, { expression: '1 + 1', shown: ['1', '2'] }, '2'],
  ['countdown', countdown as AnyGame, { numbers: [1, 1], target: 99, isRight: false }, '0'],
  ['frozenLake', frozenLake as AnyGame, { rows: ['SHG'], successRate: 1, cell: [0, 0] }, 'left'],
  ['frozenLake, slippery,', frozenLake as AnyGame, { rows: ['SHG'], successRate: 0.5, cell: [0, 0] }, 'left'],
  ['keyAndDoor', keyAndDoor as AnyGame, { rows: ['SK#G'], cell: [0, 0], hasKey: false }, 'left'],
  ['libraryDesk', libraryDesk as AnyGame, { requests: [], handled: 0 }, 'Goodbye.'],
  [
    'mastermind',
    mastermind as AnyGame,
    { secret: [1, 2], colors: 2, turns: [3, 0].map((black) => ({ guess: [1, 1], black, white: 0 })) },
    '11',
  ],
  ['sokoban', sokoban as AnyGame, { rows: ['####', '#$ #', '#@.#', '####'] }, 'left'],
  ['sorting', sorting as AnyGame, { numbers: [1, 2] }, '1 1'],
  ['sudoku', sudoku as AnyGame, { givens: '1234341221434321', cells: '1234341221434321' }, '1 1 1'],
  ['wordle', wordle as AnyGame, { secret: 'qqqqq', guesses: ['qqaqq'] }, 'arise'],
])('%s has something to say where nothing is left to find', (_, game, position, said) => {
  expect(game.solve(position as never)).toBe(said);
});
