import { parseOptions, type RandomStream, requireChoice, requireFields } from '@rlp/core';
import * as z from 'zod';
import { scaled } from '../draws.ts';
import { type Game, gameTasks, gameTasksSchema } from './game.ts';
import {
  at,
  type Cell,
  type Direction,
  directionIn,
  directions,
  drawn,
  drawRows,
  find,
  neighbor,
  shortestWay,
} from './grid.ts';

const setupSchema = z
  .strictObject({
    maxTurns: z.int().min(1),
    /** Rows of `S` start, `F` ice, `H` hole, `G` goal. */
    rows: z
      .array(z.string().regex(/^[SFHG]+$/, 'must consist of S, F, H and G'))
      .min(1)
      .readonly(),
    /** Chance of going where the policy wants. Otherwise it slips to one of the two sides. 1 is not slippery. */
    successRate: z.number().min(0).max(1),
  })
  .refine(({ rows }) => rows.every(({ length }) => length === rows[0]!.length), 'rows must have one length')
  .refine(({ rows }) => rows.join('').split('S').length === 2, 'rows must have one S')
  .refine(({ rows }) => rows.join('').includes('G'), 'rows must have a G');

/** A lake. */
export interface FrozenLakeSetup extends z.output<typeof setupSchema> {}

/** Where the policy is on a lake. */
export interface FrozenLakePosition extends Omit<FrozenLakeSetup, 'maxTurns'> {
  readonly cell: Cell;
}

const optionsSchema = gameTasksSchema.extend({
  /** Chance of going where the policy wants. Below 1 the ice is slippery. Gymnasium's is 1/3. Default 1. */
  successRate: z.number().min(0).max(1).default(1),
  /** `'one'` gives all tasks the same lake, for policies that learn one lake. Default `'each'`. */
  lake: z.enum(['each', 'one']).default('each'),
});

/** Options of `frozenLake.tasks`. */
export interface FrozenLakeOptions extends z.input<typeof optionsSchema> {}

/**
 * Cross the ice from `S` to `G` without falling into a hole. Transitions are those of Gymnasium's FrozenLake.
 *
 * Difficulty: the side grows from 3 to 8 cells, the share of holes from 10 % to 25 %. Score: 1 at the goal. The solver takes the way with
 * the largest chance to arrive.
 */
export const frozenLake: Game<FrozenLakeSetup, FrozenLakePosition, FrozenLakeOptions> = {
  name: 'frozen-lake',
  setup: setupSchema,
  tasks: (options) => {
    const { successRate, lake, ...common } = parseOptions(
      'frozenLake.tasks',
      optionsSchema,
      options,
      'FrozenLakeOptions',
    );
    // Ids differ from those of lakes that are not slippery.
    const name = successRate === 1 ? 'frozen-lake' : `frozen-lake-${successRate}`;
    const tasks = gameTasks(name, common, (random, difficulty) => {
      const rows = drawLake(random, scaled(difficulty, 3, 8), 0.1 + 0.15 * difficulty);
      const slack = successRate === 1 ? 4 : 12;
      return {
        prompt: instructions(successRate),
        setup: { maxTurns: rows.length * slack, rows, successRate },
      };
    });
    return lake === 'each' ? tasks : tasks.map((task) => ({ ...task, metadata: tasks[0]!.metadata }));
  },
  start: ({ rows, successRate }) => ({ rows, successRate, cell: find(rows, 'S')! }),
  play: (position, text, { chance }) => {
    const wanted = directionIn(text);
    if (typeof wanted !== 'string') return wanted;
    const draw = chance.uniform();
    const [first, ...others] = frozenLakeMoves(position, wanted);
    let { cell, probability: below } = first!;
    for (const way of others) {
      if (draw >= below) cell = way.cell;
      below += way.probability;
    }
    return { ...position, cell };
  },
  view: ({ rows, cell }) => drawn(rows, [[cell, '@']]),
  isOver: (position) => 'GH'.includes(at(position.rows, position.cell)!),
  score: ({ rows, cell }) => (at(rows, cell) === 'G' ? 1 : 0),
  key: ({ rows, cell: [row, column] }) => String(row * rows[0]!.length + column),
  solve: (position) => bestDirection(position),
};

/** Where a move may lead, as the columns of Gymnasium's table `P`. */
export function frozenLakeMoves(
  inputs: FrozenLakePosition,
  wanted: Direction,
): { readonly probability: number; readonly cell: Cell }[] {
  requireChoice('frozenLakeMoves', 'wanted', wanted, directions);
  requireFields('frozenLakeMoves', { cell: 'numbers', rows: 'texts', successRate: 'number' }, inputs);
  const { rows, cell, successRate } = inputs;
  const to = (direction: Direction): Cell => {
    const next = neighbor(cell, direction);
    return at(rows, next) === undefined ? cell : next;
  };
  if (successRate === 1) return [{ probability: 1, cell: to(wanted) }];
  const index = directions.indexOf(wanted);
  return [-1, 0, 1].map((turn) => ({
    probability: turn === 0 ? successRate : (1 - successRate) / 2,
    cell: to(directions[(index + turn + 4) % 4]!),
  }));
}

function instructions(successRate: number): string {
  const ice =
    successRate === 1
      ? ''
      : ` The ice is slippery: you go where you want with probability ${successRate.toFixed(2)}, and else to one of the two sides.`;
  return (
    'You cross a frozen lake. @ is you, S the start, F ice, H a hole, G the goal. Reach G. A hole ends the game.' +
    `${ice} Answer with one word: left, down, right or up.`
  );
}

/** A lake with a way from the upper left to the lower right corner. */
function drawLake(random: RandomStream, size: number, holes: number): string[] {
  for (;;) {
    const rows = drawRows(size, ([row, column]) => {
      if (row + column === 0) return 'S';
      if (row + column === 2 * size - 2) return 'G';
      return random.uniform() < holes ? 'H' : 'F';
    });
    if (wayOver({ rows, cell: [0, 0], successRate: 1 })) return rows;
  }
}

/** Where each cell's moves lead: by direction, pairs of probability and index of the cell. */
type Table = readonly (readonly (readonly [probability: number, to: number])[])[];

/** Value of a move: the expected chance to arrive. */
function worth(ways: Table[number], values: Float64Array): number {
  let sum = 0;
  for (const [probability, to] of ways) sum += probability * values[to]!;
  return sum;
}

/** The direction with the largest chance to arrive, by value iteration. Each turn counts 0.99, so that shorter ways are better. */
function likeliest(position: FrozenLakePosition): Direction {
  const { rows, cell } = position;
  const width = rows[0]!.length;
  const marks = rows.join('');
  const tables = [...marks].map((_, index): Table => {
    const from = { ...position, cell: [Math.floor(index / width), index % width] as const };
    return directions.map((way) =>
      frozenLakeMoves(from, way).map(
        ({ probability, cell: [row, column] }) => [probability, row * width + column] as const,
      ),
    );
  });
  const values = Float64Array.from(marks, (mark) => (mark === 'G' ? 1 : 0));
  for (let change = 1, sweep = 0; change > 1e-9 && sweep < 2000; sweep++) {
    change = 0;
    for (const [index, table] of tables.entries()) {
      if (marks[index] === 'G' || marks[index] === 'H') continue;
      const value = 0.99 * Math.max(...table.map((ways) => worth(ways, values)));
      change = Math.max(change, Math.abs(value - values[index]!));
      values[index] = value;
    }
  }
  const worths = tables[cell[0] * width + cell[1]]!.map((ways) => worth(ways, values));
  return directions[worths.indexOf(Math.max(...worths))]!;
}

/** A shortest way over ice that is not slippery. */
function wayOver(position: FrozenLakePosition): Direction[] | undefined {
  return shortestWay<FrozenLakePosition, Direction>(position, {
    next: (from) =>
      directions
        .map((way) => [way, { ...from, cell: frozenLakeMoves(from, way)[0]!.cell }] as const)
        .filter(([, { rows, cell }]) => at(rows, cell) !== 'H'),
    key: ({ cell }) => String(cell),
    isGoal: ({ rows, cell }) => at(rows, cell) === 'G',
  });
}

function bestDirection(position: FrozenLakePosition): Direction {
  if (position.successRate === 1) return wayOver(position)?.[0] ?? 'left';
  return likeliest(position);
}
