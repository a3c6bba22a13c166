import { RandomStream } from '@rlp/core';
import { Complex } from 'complex.js';
import { evaluate, toComplex, type Value } from './evaluate.ts';
import { type Expression, type Relation, symbol, variablesOf } from './expression.ts';

/** The condition of a piece that has none. */
export const otherwise = symbol('otherwise');

/** Points at which pieces are compared between two of their edges. */
const pointsBetween = 6;
const tolerance = 1e-9;

interface Piece {
  readonly value: Expression;
  /** Default: holds everywhere. */
  readonly condition?: Relation;
}

/**
 * Whether two functions by cases, or one and an expression, have the same value at the edges of their pieces and at random points between
 * these, and none at the same points. Conditions must be relations of one variable with numbers.
 */
export function samePieces(given: Expression, expected: Expression, seed: string): boolean {
  const [a, b] = [piecesOf(given), piecesOf(expected)];
  const conditions = [...a, ...b].flatMap(({ condition }) => condition ?? []);
  const sides = conditions.flatMap((condition) => condition.sides);
  const [name, ...others] = variablesOf(...sides);
  if (name === undefined || others.length > 0) return false;
  const limits = sides
    .filter((side) => variablesOf(side).size === 0)
    .map((side) => numberAt(side, new Map()));
  const edges = [...new Set(limits)].sort((first, second) => first - second);
  if (edges.length === 0 || !edges.every(Number.isFinite)) return false;
  const free = variablesOf(...[...a, ...b].map(({ value }) => value));
  const draw = (of: string, index: number) => RandomStream.named(seed, 'pieces', of).at(index);
  return placesAround(edges, (index) => draw(name, index)).every((place, index) => {
    const point = new Map<string, Value>(
      [...free].map((of) => [of, new Complex(0.5 + 2 * draw(of, index), 0)]),
    );
    point.set(name, new Complex(place, 0));
    return areNear(valueAt(a, point), valueAt(b, point));
  });
}

function piecesOf(expression: Expression): readonly Piece[] {
  if (expression.type !== 'collection' || expression.kind !== 'cases') return [{ value: expression }];
  return expression.parts.flatMap((value, index, parts) => {
    const condition = parts[index + 1];
    if (index % 2 === 1) return [];
    return condition?.type === 'relation' ? [{ value, condition }] : [{ value }];
  });
}

/** The edges, and points before, between and behind them. */
function placesAround(edges: readonly number[], draw: (index: number) => number): readonly number[] {
  const [first, last] = [edges[0]!, edges.at(-1)!];
  const bounds = [first - 10, ...edges, last + 10];
  const between = bounds.slice(1).flatMap((to, index) => {
    const from = bounds[index]!;
    return Array.from(
      { length: pointsBetween },
      (_, k) => from + (to - from) * draw(index * pointsBetween + k),
    );
  });
  return [...edges, ...between];
}

function valueAt(pieces: readonly Piece[], point: ReadonlyMap<string, Value>): Complex {
  const piece = pieces.find(({ condition }) => condition === undefined || holds(condition, point));
  return piece === undefined ? new Complex(Number.NaN, 0) : toComplex(evaluate(piece.value, point));
}

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  le: (a, b) => a <= b,
  ge: (a, b) => a >= b,
  '=': (a, b) => a === b,
  ne: (a, b) => a !== b,
};

function holds({ operators, sides }: Relation, point: ReadonlyMap<string, Value>): boolean {
  const values = sides.map((side) => numberAt(side, point));
  return operators.every(
    (operator, index) => comparisons[operator]?.(values[index]!, values[index + 1]!) === true,
  );
}

function numberAt(side: Expression, point: ReadonlyMap<string, Value>): number {
  return toComplex(evaluate(side, point)).re;
}

function areNear(a: Complex, b: Complex): boolean {
  if (a.isNaN() || b.isNaN()) return a.isNaN() && b.isNaN();
  return a.sub(b).abs() <= tolerance * Math.max(1, a.abs());
}
