import type { RandomStream } from '@rlp/core';
import * as z from 'zod';
import { scaled } from '../draws.ts';
import { type Game, gameTasks } from './game.ts';
import {
  at,
  type Cell,
  type Direction,
  directionIn,
  directions,
  drawn,
  find,
  isSame,
  neighbor,
  shortestWay,
} from './grid.ts';

const setupSchema = z
  .strictObject({
    maxTurns: z.int().min(1),
    /** Rows of `#` wall, `.` floor, `S` start, `K` key, `D` door, `G` goal. */
    rows: z
      .array(z.string().regex(/^[#.SKDG]+$/, 'must consist of #, ., S, K, D and G'))
      .min(1)
      .readonly(),
  })
  .refine(({ rows }) => rows.every(({ length }) => length === rows[0]!.length), 'rows must have one length')
  .refine(
    ({ rows }) => [...'SKG'].every((mark) => rows.join('').split(mark).length === 2),
    'rows must have one S, one K and one G',
  );

/** A house with a locked door. */
export interface KeyAndDoorSetup extends z.output<typeof setupSchema> {}

/** Where the policy is, and whether it has the key. */
export interface KeyAndDoorPosition {
  readonly rows: readonly string[];
  readonly cell: Cell;
  readonly hasKey: boolean;
}

/**
 * Fetch the key, go through the door, reach the goal.
 *
 * Difficulty: each of the two rooms grows from 2×2 to 6×6 cells. Score: 0.5 with the key, 1 at the goal. The solver searches breadth
 * first. States recur, as policies walk in circles.
 */
export const keyAndDoor: Game<KeyAndDoorSetup, KeyAndDoorPosition> = {
  name: 'key-and-door',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('key-and-door', options, (random, difficulty) => {
      const size = scaled(difficulty, 2, 6);
      return { prompt: instructions, setup: { maxTurns: 8 * size + 8, rows: drawHouse(random, size) } };
    }),
  start: ({ rows }) => ({ rows, cell: find(rows, 'S')!, hasKey: false }),
  play: (position, text) => {
    const direction = directionIn(text);
    return typeof direction === 'string' ? moved(position, direction) : direction;
  },
  view: ({ rows, cell, hasKey }) => {
    const key = find(rows, 'K')!;
    const picture = drawn(rows, [...(hasKey ? ([[key, '.']] as const) : []), [cell, '@']]);
    return `${picture}\nKey: ${hasKey ? 'yes' : 'no'}`;
  },
  isOver: ({ rows, cell }) => at(rows, cell) === 'G',
  score: ({ rows, cell, hasKey }) => (at(rows, cell) === 'G' ? 1 : hasKey ? 0.5 : 0),
  key: ({ rows, cell: [row, column], hasKey }) => `${row * rows[0]!.length + column}${hasKey ? 'k' : ''}`,
  solve: (position) => wayOut(position)?.[0] ?? 'left',
};

const instructions =
  'You are in a house. @ is you, # a wall, . floor, K the key, D a locked door, G the goal. Fetch the key, then go through the ' +
  'door to G. Answer with one word: left, down, right or up.';

/** The position after a move. Walls stop it, and so does the door without the key. */
function moved(position: KeyAndDoorPosition, direction: Direction): KeyAndDoorPosition {
  const { rows, hasKey } = position;
  const cell = neighbor(position.cell, direction);
  const mark = at(rows, cell);
  if (mark === undefined || mark === '#' || (mark === 'D' && !hasKey)) return position;
  return { rows, cell, hasKey: hasKey || mark === 'K' };
}

function wayOut(position: KeyAndDoorPosition): Direction[] | undefined {
  return shortestWay<KeyAndDoorPosition, Direction>(position, {
    next: (from) => directions.map((direction) => [direction, moved(from, direction)] as const),
    key: ({ cell, hasKey }) => `${cell} ${hasKey}`,
    isGoal: ({ rows, cell }) => at(rows, cell) === 'G',
  });
}

/** Two square rooms beside each other, a wall with a door between them. Start and key are in the left one, the goal in the right. */
function drawHouse(random: RandomStream, size: number): string[] {
  const cell = (): Cell => [random.integer(size), random.integer(size)];
  const start = cell();
  let key = cell();
  while (isSame(key, start)) key = cell();
  const [goalRow, goalColumn] = cell();
  const door = random.integer(size);
  const left = Array.from({ length: size }, () => '.'.repeat(size));
  const marked = drawn(left, [
    [start, 'S'],
    [key, 'K'],
  ]).split('\n');
  return marked.map((line, row) => {
    const right = drawn(['.'.repeat(size)], row === goalRow ? [[[0, goalColumn], 'G']] : []);
    return `${line}${row === door ? 'D' : '#'}${right}`;
  });
}
