import type { RandomStream } from '@rlp/core';
import * as z from 'zod';
import { scaled } from '../draws.ts';
import { type Game, gameTasks } from './game.ts';

const setupSchema = z
  .strictObject({
    maxTurns: z.int().min(1),
    /** 16 digits row by row, `0` for an empty cell. */
    givens: z.string().regex(/^[0-4]{16}$/, 'must be 16 digits from 0 to 4'),
  })
  .refine(({ givens }) => solutions(givens, 2).length === 1, 'givens must have exactly one solution');

/** A puzzle. */
export interface SudokuSetup extends z.output<typeof setupSchema> {}

/** The puzzle, and the cells as they are now. */
export interface SudokuPosition {
  readonly givens: string;
  /** 16 digits row by row, `0` for an empty cell. */
  readonly cells: string;
}

/**
 * Fill a 4×4 Sudoku, one cell a turn. A digit that stands in the same row, column or box already is refused.
 *
 * Difficulty: from 4 empty cells to 10. Score: the share of empty cells that are filled as in the one solution. The solver is exact.
 */
export const sudoku: Game<SudokuSetup, SudokuPosition> = {
  name: 'sudoku',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('sudoku', options, (random, difficulty) => {
      const empty = scaled(difficulty, 4, 10);
      return { prompt: instructions, setup: { maxTurns: 2 * empty + 4, givens: drawGivens(random, empty) } };
    }),
  start: ({ givens }) => ({ givens, cells: givens }),
  play: ({ givens, cells }, text) => {
    const [, row, column, digit] = /^([1-4])[\s,]*([1-4])[\s,]*([0-4])$/.exec(text) ?? [];
    if (digit === undefined)
      return { refusal: 'I could not read that. Expected row, column and digit, such as: 1 2 3' };
    const cell = 4 * (Number(row) - 1) + Number(column) - 1;
    if (givens[cell] !== '0') return { refusal: 'That cell is given. Choose another one.' };
    const changed = withCell(cells, cell, '0');
    if (digit !== '0' && !fits(changed, cell, digit))
      return { refusal: `${digit} is in its row, column or box already.` };
    return { givens, cells: withCell(cells, cell, digit) };
  },
  view: ({ cells }) => cells.replaceAll('0', '.').replaceAll(/(.{4})(?=.)/g, '$1\n'),
  isOver: ({ cells }) => !cells.includes('0'),
  score: ({ givens, cells }) => {
    const [solution] = solutions(givens, 1);
    const empty = [...givens].flatMap((digit, cell) => (digit === '0' ? [cell] : []));
    return empty.length === 0
      ? 1
      : empty.filter((cell) => cells[cell] === solution![cell]).length / empty.length;
  },
  key: ({ cells }) => cells,
  solve: ({ givens, cells }) => {
    const [solution] = solutions(givens, 1);
    const wrong = [...cells].findIndex((digit, cell) => digit !== '0' && digit !== solution![cell]);
    const cell = wrong < 0 ? Math.max(0, cells.indexOf('0')) : wrong;
    return `${1 + Math.floor(cell / 4)} ${1 + (cell % 4)} ${wrong < 0 ? solution![cell] : 0}`;
  },
};

const instructions =
  'Fill the Sudoku so that each row, each column and each 2x2 box has the digits 1 to 4. A dot is an empty cell. Each turn fills one ' +
  'cell. Answer with row, column and digit, such as: 1 2 3. The digit 0 empties a cell.';

function withCell(cells: string, cell: number, digit: string): string {
  return cells.slice(0, cell) + digit + cells.slice(cell + 1);
}

/** Whether a digit can stand in an empty cell. */
function fits(cells: string, cell: number, digit: string): boolean {
  const [row, column] = [Math.floor(cell / 4), cell % 4];
  return ![...cells].some((other, place) => {
    const [otherRow, otherColumn] = [Math.floor(place / 4), place % 4];
    const isBox = row >> 1 === otherRow >> 1 && column >> 1 === otherColumn >> 1;
    return other === digit && (row === otherRow || column === otherColumn || isBox);
  });
}

/** At most `limit` ways to fill the empty cells. */
function solutions(cells: string, limit: number): string[] {
  const cell = cells.indexOf('0');
  if (cell < 0) return [cells];
  const found: string[] = [];
  for (const digit of '1234') {
    if (found.length < limit && fits(cells, cell, digit))
      found.push(...solutions(withCell(cells, cell, digit), limit - found.length));
  }
  return found;
}

/** A puzzle with `empty` empty cells, or fewer if no more can be emptied, and one solution. */
function drawGivens(random: RandomStream, empty: number): string {
  const digits = random.shuffle(['1', '2', '3', '4']).join('');
  const first = `${digits}${'0'.repeat(12)}`;
  let cells = random.shuffle(solutions(first, 24))[0]!;
  for (const cell of random.shuffle(Array.from({ length: 16 }, (_, index) => index))) {
    const without = withCell(cells, cell, '0');
    if ([...without].filter((digit) => digit === '0').length <= empty && solutions(without, 2).length === 1)
      cells = without;
  }
  return cells;
}
