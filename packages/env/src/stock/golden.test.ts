import { readFileSync } from 'node:fs';
import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import {
  type FrozenLakePosition,
  frozenLake,
  frozenLakeMoves,
  mastermindPegs,
  type SokobanPosition,
  sokoban,
  wordleMarks,
} from './index.ts';

// Recorded by lab/golden/games.py from Gymnasium, gym-sokoban and TextArena.
const file = new URL('../../fixtures/testdata/games.jsonl', import.meta.url);
const recorded = readFileSync(file, 'utf8').trim().split('\n');
const games = recorded.map((line) => JSON.parse(line) as Record<string, unknown> & { game: string });
const of = <Record>(game: string, field: string): Record[] =>
  games.filter((record) => record.game === game && field in record) as unknown as Record[];

const directions = ['left', 'down', 'right', 'up'] as const;

interface Lake {
  readonly rows: readonly string[];
  readonly successRate: number;
}
const placed = ({ rows, successRate }: Lake, place: number): FrozenLakePosition => ({
  rows: [...rows],
  successRate,
  cell: [Math.floor(place / rows[0]!.length), place % rows[0]!.length],
});
const placeOf = ({ rows, cell: [row, column] }: FrozenLakePosition) => row * rows[0]!.length + column;

describe('frozenLake', () => {
  type Table = readonly (readonly (readonly [number, number, boolean])[])[][];

  it.each(of<Lake & { table: Table }>('frozen-lake', 'table'))(
    'has the table of Gymnasium: $rows at $successRate',
    ({ table, ...lake }) => {
      for (const [place, actions] of table.entries()) {
        const from = placed(lake, place);
        // Gymnasium's table holds states of which there is no way on, too.
        if (frozenLake.isOver(from)) continue;
        for (const [action, ways] of actions.entries()) {
          const ours = frozenLakeMoves(from, directions[action]!);
          expect(ours.map(({ cell }) => placeOf({ ...from, cell }))).toEqual(ways.map(([, to]) => to));
          expect(ours.map(({ cell }) => frozenLake.isOver({ ...from, cell }))).toEqual(
            ways.map(([, , over]) => over),
          );
          for (const [index, [probability]] of ways.entries())
            expect(ours[index]!.probability).toBeCloseTo(probability, 10);
        }
      }
    },
  );

  type Played = readonly [
    number,
    ...(readonly [action: number, to: number, reward: number, over: boolean])[],
  ];

  it.each(of<Lake & { played: Played }>('frozen-lake', 'played'))(
    'can play the games that Gymnasium played, with its rewards: $rows',
    ({ played: [start, ...moves], ...lake }) => {
      let state = placed(lake, start);
      expect(state.cell).toEqual(
        frozenLake.start({ maxTurns: 1, rows: [...lake.rows], successRate: 1 }).cell,
      );
      for (const [action, to, reward, over] of moves) {
        const way = frozenLakeMoves(state, directions[action]!).find(
          ({ cell }) => placeOf({ ...state, cell }) === to,
        );
        state = { ...state, cell: way!.cell };
        expect([frozenLake.score(state), frozenLake.isOver(state)]).toEqual([reward, over]);
      }
    },
  );

  it('slips as often as it says', () => {
    const lake = placed({ rows: ['FFF', 'FSF', 'FFG'], successRate: 0.5 }, 4);
    const counts = new Map<number, number>();
    for (let turn = 0; turn < 4000; turn++) {
      const next = frozenLake.play(lake, 'up', {
        chance: RandomStream.named('slips', turn),
        signal: undefined,
      }) as FrozenLakePosition;
      counts.set(placeOf(next), (counts.get(placeOf(next)) ?? 0) + 1);
    }
    // Up with 1/2, left and right with 1/4 each: five standard deviations are 160 and 140.
    expect([...counts.keys()].toSorted()).toEqual([1, 3, 5]);
    expect(Math.abs(counts.get(1)! - 2000)).toBeLessThan(160);
    expect(Math.abs(counts.get(3)! - 1000)).toBeLessThan(140);
  });
});

describe('sokoban', () => {
  type Played = readonly (readonly [direction: string, rows: string, over: boolean])[];
  const context = { chance: RandomStream.named('unused'), signal: undefined };

  it.each(of<{ rows: string[]; played: Played }>('sokoban', 'played'))(
    'plays as gym-sokoban: $rows',
    ({ rows, played }) => {
      let position = sokoban.start({ maxTurns: 1, rows });
      for (const [direction, after, over] of played) {
        const wanted = after === '' ? sokoban.view(position) : after;
        position = sokoban.play(position, direction, context) as SokobanPosition;
        expect(sokoban.view(position)).toBe(wanted);
        expect(sokoban.isOver(position)).toBe(over);
        expect(sokoban.score(position) === 1).toBe(over);
      }
    },
  );
});

describe('feedback on guesses', () => {
  it('marks words as TextArena does', () => {
    const [{ marks }] = of<{ marks: [string, string, string][] }>('wordle', 'marks') as [
      { marks: [string, string, string][] },
    ];
    for (const [secret, guess, marked] of marks)
      expect([secret, guess, wordleMarks(secret, guess)]).toEqual([secret, guess, marked]);
  });

  it('counts pegs as TextArena does', () => {
    const [{ pegs }] = of<{ pegs: [number[], number[], number, number][] }>('mastermind', 'pegs') as [
      { pegs: [number[], number[], number, number][] },
    ];
    for (const [secret, guess, black, white] of pegs)
      expect(mastermindPegs(secret, guess)).toEqual({ black, white });
  });
});
