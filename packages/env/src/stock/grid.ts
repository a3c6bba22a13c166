import { type Refusal, wordIn } from './game.ts';

/** Directions in the order of Gymnasium's FrozenLake. */
export const directions = ['left', 'down', 'right', 'up'] as const;

export type Direction = (typeof directions)[number];

/** A cell: row and column from 0. */
export type Cell = readonly [row: number, column: number];

const steps: Readonly<Record<Direction, Cell>> = { left: [0, -1], down: [1, 0], right: [0, 1], up: [-1, 0] };

/** The direction that a text names, by word or first letter. */
export function directionIn(text: string): Direction | Refusal {
  return (
    wordIn(text, directions) ?? { refusal: 'I could not read that. Expected one of left, down, right, up.' }
  );
}

/** The next cell in a direction, which may be outside. */
export function neighbor([row, column]: Cell, direction: Direction): Cell {
  const [down, right] = steps[direction];
  return [row + down, column + right];
}

export function isSame([row, column]: Cell, [otherRow, otherColumn]: Cell): boolean {
  return row === otherRow && column === otherColumn;
}

/** What stands in a cell, or `undefined` outside. */
export function at(rows: readonly string[], [row, column]: Cell): string | undefined {
  return rows[row]?.[column];
}

/** The first cell with this mark. */
export function find(rows: readonly string[], mark: string): Cell | undefined {
  const row = rows.findIndex((line) => line.includes(mark));
  return row < 0 ? undefined : [row, rows[row]!.indexOf(mark)];
}

/** The rows with marks drawn over some cells. */
export function drawn(rows: readonly string[], marks: readonly (readonly [Cell, string])[]): string {
  const cells = rows.map((line) => [...line]);
  for (const [[row, column], mark] of marks) cells[row]![column] = mark;
  return cells.map((line) => line.join('')).join('\n');
}

/** A rectangle of cells, each what `of` draws. */
export function drawRows(size: number, of: (cell: Cell) => string): string[] {
  return Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (__, column) => of([row, column])).join(''),
  );
}

/**
 * A shortest way from a state to a goal, breadth first: the moves, or `undefined` if there is none within `limit` states.
 *
 * @param next - Moves and the states they lead to.
 * @param key - Equal for equal states.
 */
export function shortestWay<Node, Move>(
  from: Node,
  { next, key, isGoal, limit = 200_000 }: Search<Node, Move>,
): Move[] | undefined {
  interface Visit {
    readonly node: Node;
    readonly before: Visit | undefined;
    readonly move: Move | undefined;
  }
  const seen = new Set([key(from)]);
  const queue: Visit[] = [{ node: from, before: undefined, move: undefined }];
  for (let index = 0; index < queue.length && queue.length < limit; index++) {
    const visit = queue[index]!;
    if (isGoal(visit.node)) {
      const moves: Move[] = [];
      for (let back: Visit | undefined = visit; back?.before; back = back.before) moves.push(back.move!);
      return moves.reverse();
    }
    for (const [move, node] of next(visit.node)) {
      const name = key(node);
      if (seen.has(name)) continue;
      seen.add(name);
      queue.push({ node, before: visit, move });
    }
  }
  return undefined;
}

/** What {@link shortestWay} searches in. */
export interface Search<Node, Move> {
  next(node: Node): Iterable<readonly [Move, Node]>;
  key(node: Node): string;
  isGoal(node: Node): boolean;
  /** States after which the search gives up. Default 200000. */
  readonly limit?: number;
}
