import type { RandomStream } from '@rlp/core';
import * as z from 'zod';
import { between, pick, scaled } from '../draws.ts';
import { type Game, gameTasks } from './game.ts';
import {
  at,
  type Cell,
  type Direction,
  directionIn,
  directions,
  drawn,
  drawRows,
  isSame,
  neighbor,
  shortestWay,
} from './grid.ts';

const setupSchema = z
  .strictObject({
    maxTurns: z.int().min(1),
    /** Rows of `#` wall, ` ` floor, `.` target, `$` box, `*` box on a target, `@` player, `+` player on a target. */
    rows: z
      .array(z.string().regex(/^[# .$*@+]+$/, 'must consist of #, space, ., $, *, @ and +'))
      .min(1)
      .readonly(),
  })
  .refine(({ rows }) => cellsOf(rows, '@+').length === 1, 'rows must have one player')
  .refine(
    ({ rows }) => cellsOf(rows, '.+').length === cellsOf(rows, '$').length,
    'rows must have as many targets as boxes',
  )
  .refine(({ rows }) => rows.every(({ length }) => length === rows[0]!.length), 'rows must have one length');

/** A warehouse. */
export interface SokobanSetup extends z.output<typeof setupSchema> {}

/** A warehouse as it is now, in the letters of its setup. */
export interface SokobanPosition {
  readonly rows: readonly string[];
}

/**
 * Push every box onto a target. Transitions are those of gym-sokoban.
 *
 * Difficulty: the floor grows from 3×3 to 5×5 cells, the boxes from 1 to 3. Score: the share of boxes on targets. The solver is exact (A*).
 * Some positions cannot be solved any more.
 */
export const sokoban: Game<SokobanSetup, SokobanPosition> = {
  name: 'sokoban',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('sokoban', options, (random, difficulty) => ({
      prompt: instructions,
      setup: drawWarehouse(random, scaled(difficulty, 3, 5), scaled(difficulty, 1, 3)),
    })),
  start: ({ rows }) => ({ rows }),
  play: ({ rows }, text) => {
    const direction = directionIn(text);
    return typeof direction === 'string'
      ? { rows: pushed(rows.join('\n'), direction).split('\n') }
      : direction;
  },
  view: ({ rows }) => rows.join('\n'),
  isOver: ({ rows }) => cellsOf(rows, '$').length === 0,
  score: ({ rows }) => {
    const done = cellsOf(rows, '*').length;
    const boxes = done + cellsOf(rows, '$').length;
    return boxes === 0 ? 1 : done / boxes;
  },
  key: ({ rows }) => rows.join('\n'),
  solve: ({ rows }) => pushesToGoal(rows)?.[0] ?? 'left',
};

const instructions =
  'You play Sokoban. @ is you, # a wall, . a target, $ a box, * a box on a target, + you on a target. Push every box onto a target. ' +
  'You can push one box, and pull none. Answer with one word: left, down, right or up.';

function cellsOf(rows: readonly string[], marks: string): Cell[] {
  return rows.flatMap((line, row) =>
    [...line].flatMap((mark, column) => (marks.includes(mark) ? [[row, column] as const] : [])),
  );
}

/** What a cell shows with and without something on it. */
const onto: Readonly<Record<string, { readonly box: string; readonly player: string }>> = {
  ' ': { box: '$', player: '@' },
  '.': { box: '*', player: '+' },
};
const floorOf = (mark: string) => ('.*+'.includes(mark) ? '.' : ' ');

/** A warehouse as one text, its rows joined by line ends, which are as good as walls. */
function pushed(text: string, direction: Direction): string {
  const width = text.indexOf('\n') + 1;
  const step = { left: -1, right: 1, up: -width, down: width }[direction];
  const from = text.search(/[@+]/);
  const [to, beyond] = [from + step, from + 2 * step];
  const [mark = '#', behind = '#'] = [text[to], text[beyond]];
  const isBox = mark === '$' || mark === '*';
  if (mark === '#' || mark === '\n' || (isBox && !(behind in onto))) return text;
  const cells = [...text];
  cells[from] = floorOf(cells[from]!);
  cells[to] = onto[floorOf(mark)]!.player;
  if (isBox) cells[beyond] = onto[behind]!.box;
  return cells.join('');
}

function pushesToGoal(rows: readonly string[]): Direction[] | undefined {
  const width = rows[0]!.length + 1;
  const text = rows.join('\n');
  // Pushes from each cell to its nearest target, if nothing were in the way.
  const targets = cellsOf(rows, '.*+');
  const away = [...text].map((_, place) =>
    Math.min(
      ...targets.map(
        ([row, column]) => Math.abs(row - Math.floor(place / width)) + Math.abs(column - (place % width)),
      ),
    ),
  );
  const isStuck = [...text].map((_, place) => isCorner(text, place, width));
  const boxes = (node: string, of: (place: number) => number) => {
    let sum = 0;
    for (let place = node.indexOf('$'); place >= 0; place = node.indexOf('$', place + 1)) sum += of(place);
    return sum;
  };
  return shortestWay<string, Direction>(text, {
    next: (from) =>
      directions
        .map((way) => [way, pushed(from, way)] as const)
        .filter(([, to]) => boxes(to, (place) => (isStuck[place] ? 1 : 0)) === 0),
    key: (node) => node,
    isGoal: (node) => !node.includes('$'),
    estimate: (node) => boxes(node, (place) => away[place]!),
    limit: 60_000,
  });
}

/** Whether walls are at two sides of a cell that meet. A box can never leave it. */
function isCorner(text: string, place: number, width: number): boolean {
  const isWall = (at: number) => '#\n'.includes(text[at] ?? '#');
  return (isWall(place - 1) || isWall(place + 1)) && (isWall(place - width) || isWall(place + width));
}

/** A warehouse that can be solved: boxes are pulled away from their targets. */
function drawWarehouse(random: RandomStream, size: number, boxes: number): SokobanSetup {
  for (;;) {
    const room = drawRows(size + 2, ([row, column]) => {
      const isEdge = [row, column].some((place) => place === 0 || place === size + 1);
      return isEdge || random.uniform() < 0.1 ? '#' : ' ';
    });
    const floor = random.shuffle(cellsOf(room, ' '));
    const targets = floor.slice(0, boxes);
    const rows = floor.length > 3 * boxes ? pulled(random, room, targets, floor[boxes]!) : undefined;
    const way = rows ? pushesToGoal(rows) : undefined;
    if (rows && way && way.length >= size) return { maxTurns: 2 * way.length + 10, rows };
  }
}

/** Plays backwards from the solved room: random moves that pull a box along if there is one behind. */
function pulled(
  random: RandomStream,
  room: readonly string[],
  targets: readonly Cell[],
  start: Cell,
): string[] {
  let player = start;
  let boxes = [...targets];
  const isFree = (cell: Cell) => at(room, cell) === ' ' && !boxes.some((box) => isSame(box, cell));
  for (let move = between(random, 20, 60) * boxes.length; move > 0; move--) {
    const way = pick(random, directions);
    const to = neighbor(player, way);
    if (!isFree(to)) continue;
    const behind: Cell = [2 * player[0] - to[0], 2 * player[1] - to[1]];
    const from = player;
    if (random.uniform() < 0.8) boxes = boxes.map((box) => (isSame(box, behind) ? from : box));
    player = to;
  }
  const marks: Record<string, string> = {};
  for (const cell of targets) marks[String(cell)] = '.';
  const mark = (cell: Cell, kind: 'box' | 'player') =>
    [cell, onto[marks[String(cell)] ?? ' ']![kind]] as const;
  const open = targets.map((cell) => [cell, '.'] as const);
  return drawn(room, [...open, ...boxes.map((box) => mark(box, 'box')), mark(player, 'player')]).split('\n');
}
