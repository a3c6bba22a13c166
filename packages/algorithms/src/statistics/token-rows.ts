import { ArgumentError, described } from '@rlp/core';

/** One number per token of every sequence. Shape `[B][T]`, rows may differ in length. Masks are 1 where a token counts. */
export type TokenRows = readonly ArrayLike<number>[];

/** Zeros in the shape of `rows`. They are views of one buffer, so a batch costs one large allocation. */
export function zeroRows(rows: TokenRows): Float64Array[] {
  let total = 0;
  for (const { length } of rows) total += length;
  const buffer = new Float64Array(total);
  let start = 0;
  return rows.map(({ length }) => {
    start += length;
    return buffer.subarray(start - length, start);
  });
}

/** Beyond it squares and their sums could overflow, and a difference of infinities is not a number. */
const largest = 1e100;

/** Whether a value is a number, finite and at most 1e100 in size, so that one can compute with it. */
export function isUsable(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= largest;
}

/**
 * Checks that every named argument is finite (at most 1e100 in size) and has the shape of the first.
 *
 * @throws ArgumentError naming the first argument that is not, what was expected and what came.
 */
export function requireRows(owner: string, rows: Readonly<Record<string, TokenRows | undefined>>): void {
  const [[reference, shape], ...others] = Object.entries(rows) as [
    [string, TokenRows],
    ...[string, TokenRows | undefined][],
  ];
  requireFiniteRows(owner, reference, shape);
  for (const [name, matrix] of others) {
    if (matrix === undefined) continue;
    requireList(owner, name, matrix);
    if (matrix.length !== shape.length) {
      throw new ArgumentError(
        `${owner}: ${name} must have ${shape.length} rows, as ${reference}, got ${matrix.length}`,
      );
    }
    for (const [b, row] of matrix.entries()) {
      requireList(owner, `${name}[${b}]`, row);
      const { length } = shape[b]!;
      if (row.length === length) continue;
      throw new ArgumentError(
        `${owner}: ${name}[${b}] must have ${length} tokens, as ${reference}[${b}], got ${row.length}`,
      );
    }
    requireFiniteRows(owner, name, matrix);
  }
}

function requireFiniteRows(owner: string, name: string, rows: TokenRows): void {
  requireList(owner, name, rows);
  for (let b = 0; b < rows.length; b++) {
    requireList(owner, `${name}[${b}]`, rows[b]);
    requireFinite(owner, `${name}[${b}]`, rows[b]!);
  }
}

/** @throws ArgumentError for what is no list, such as the numbers of a single row that is not in a list of rows. */
export function requireList(owner: string, name: string, row: unknown): void {
  if (typeof row === 'object' && row !== null && 'length' in row) return;
  throw new ArgumentError(
    `${owner}: ${name} must be a list of numbers, got ${described(row)}; a single list of numbers goes into another list`,
  );
}

/**
 * Checks one number per row (or, without `length`, any list) to be finite, and at most 1e100 in size.
 *
 * @throws ArgumentError naming the argument, what was expected and what came.
 */
export function requireFinite(owner: string, name: string, values: ArrayLike<number>, length?: number): void {
  if (length !== undefined && values.length !== length) {
    throw new ArgumentError(
      `${owner}: ${name} must have ${length} numbers, one per row, got ${values.length}`,
    );
  }
  for (let index = 0; index < values.length; index++) {
    if (isUsable(values[index]!)) continue;
    throw new ArgumentError(
      `${owner}: ${name}[${index}] must be a finite number (at most 1e100 in size), got ${described(values[index])}`,
    );
  }
}
