import { ArgumentError, requireArguments, requireFields } from '@rlp/core';

/** A matrix of float64, row by row. A dimension of size 1 broadcasts. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** Shape: `[rows * columns]`. */
  readonly data: Float64Array;
}

/** Rows and columns of a {@link Matrix}. */
export type Shape = Pick<Matrix, 'rows' | 'columns'>;

/**
 * Makes a matrix of rows and fills shorter rows up with `padding`.
 *
 * Rows that are consecutive views of one buffer, as {@link matrixRows} returns them, are not copied.
 *
 * @param padding - Default 0.
 */
export function matrixFromRows(rows: readonly ArrayLike<number>[], padding = 0): Matrix {
  requireArguments('matrixFromRows', { rows: 'lists', padding: 'number' }, rows, padding);
  let columns = 0;
  for (const row of rows) columns = Math.max(columns, row.length);
  const shared = sharedMemory(rows, columns);
  if (shared !== undefined) return { rows: rows.length, columns, data: shared };
  const data = new Float64Array(rows.length * columns);
  if (padding !== 0) data.fill(padding);
  for (let index = 0; index < rows.length; index++) data.set(rows[index]!, index * columns);
  return { rows: rows.length, columns, data };
}

/** The memory that rows of `columns` numbers lie in one after the other, if they do. */
function sharedMemory(rows: readonly ArrayLike<number>[], columns: number): Float64Array | undefined {
  const [first] = rows;
  if (!(first instanceof Float64Array)) return undefined;
  const { buffer, byteOffset } = first;
  const width = columns * Float64Array.BYTES_PER_ELEMENT;
  const isShared = rows.every(
    (row, index) =>
      row instanceof Float64Array &&
      row.length === columns &&
      row.buffer === buffer &&
      row.byteOffset === byteOffset + index * width,
  );
  return isShared ? new Float64Array(buffer, byteOffset, rows.length * columns) : undefined;
}

/** The rows of a matrix, as views of its memory. */
export function matrixRows(matrix: Matrix): Float64Array[] {
  requireFields('matrixRows', { rows: 'number', columns: 'number', data: 'list' }, matrix);
  const { rows, columns, data } = matrix;
  return Array.from({ length: rows }, (_, row) => data.subarray(row * columns, (row + 1) * columns));
}

/**
 * The shape that two broadcast operands share.
 *
 * @throws ArgumentError when a dimension differs and neither side is 1.
 */
export function broadcastShape(operation: string, a: Shape, b: Shape): Shape {
  const rows = a.rows === 1 ? b.rows : a.rows;
  const columns = a.columns === 1 ? b.columns : a.columns;
  if ((b.rows !== rows && b.rows !== 1) || (b.columns !== columns && b.columns !== 1)) {
    throw new ArgumentError(
      `${operation}: operands must have equal dimensions or dimensions of size 1, ` +
        `got [${a.rows}, ${a.columns}] and [${b.rows}, ${b.columns}]`,
    );
  }
  return { rows, columns };
}
