import type { Matrix } from './matrix.ts';

/** Writes a matrix to one of a larger shape. Dimensions of size 1 repeat. */
export function expand(from: Matrix, to: Matrix): void {
  if (from.data.length === 1) {
    to.data.fill(from.data[0]!);
    return;
  }
  for (let row = 0; row < to.rows; row++) {
    const [start, end] = [row * to.columns, (row + 1) * to.columns];
    if (from.columns === 1) to.data.fill(from.data[row]!, start, end);
    else to.data.set(from.data, start);
  }
}

/** The reverse of {@link expand} for gradients. Adds the sums over repeated dimensions to `into`, of the shape of `like`. */
export function reduceInto(gradient: Matrix, like: Matrix, into: Float64Array): void {
  const { rows, columns, data } = gradient;
  for (let row = 0, at = 0; row < rows; row++) {
    const start = like.rows === 1 ? 0 : row * like.columns;
    if (like.columns > 1) {
      for (let column = 0; column < columns; column++, at++) into[start + column]! += data[at]!;
      continue;
    }
    for (let column = 0; column < columns; column++, at++) into[start]! += data[at]!;
  }
}
