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
 * A shortest way from a state to a goal (A*): the moves, or `undefined` if there is none within `limit` states.
 */
export function shortestWay<Node, Move>(
  from: Node,
  { next, key, isGoal, estimate = () => 0, limit = 200_000 }: Search<Node, Move>,
): Move[] | undefined {
  const best = new Map([[key(from), 0]]);
  // Visits by the length of the way so far and the estimate of the rest, which only grows.
  const queues: Visit<Node, Move>[][] = [];
  const put = (visit: Visit<Node, Move>) => {
    const length = visit.moves + estimate(visit.node);
    queues[length] ??= [];
    queues[length].push(visit);
  };
  put({ node: from, moves: 0 });
  for (let length = 0; length < queues.length; length++) {
    for (let visit = queues[length]?.pop(); visit; visit = queues[length]?.pop()) {
      if (isGoal(visit.node)) return movesTo(visit);
      if (best.get(key(visit.node))! < visit.moves) continue;
      for (const [move, node] of next(visit.node)) {
        const moves = visit.moves + 1;
        const name = key(node);
        if ((best.get(name) ?? Number.POSITIVE_INFINITY) <= moves) continue;
        if (best.size >= limit) return undefined;
        best.set(name, moves);
        put({ node, moves, move, before: visit });
      }
    }
  }
  return undefined;
}

interface Visit<Node, Move> {
  readonly node: Node;
  readonly moves: number;
  readonly move?: Move;
  readonly before?: Visit<Node, Move>;
}

function movesTo<Node, Move>(visit: Visit<Node, Move>): Move[] {
  const moves: Move[] = [];
  for (let at: Visit<Node, Move> | undefined = visit; at?.before; at = at.before) moves.push(at.move!);
  return moves.reverse();
}

/** What {@link shortestWay} searches in. */
interface Search<Node, Move> {
  /** Moves and the states they lead to. */
  next(node: Node): Iterable<readonly [Move, Node]>;
  /** Equal for equal states. */
  key(node: Node): string;
  isGoal(node: Node): boolean;
  /** An integer, at most the moves that are left. A move lowers it by at most one. Default 0. */
  estimate?(node: Node): number;
  /** States after which the search gives up. Default 200000. */
  readonly limit?: number;
}
