import { requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import type { Value } from '../graph/graph.ts';
import { gather } from '../ops/indexing.ts';
import { concat } from '../ops/layout.ts';
import { filled, reshape } from '../ops/shape.ts';

/** Some rows of a matrix, none of which repeats. */
export interface PickedRows {
  /** Indices of the rows, int64 `[picked]`. */
  readonly rows: Value;
  /** Place of each row of the matrix in `rows`, int64 `[count]`. `picked` for a row that is not picked. */
  readonly places: Value;
}

/**
 * Picked rows of `x`.
 *
 * The gradient is a lookup as well, which is much faster than adding rows at indices.
 *
 * @param x - `[count, width]`
 * @returns `[picked, width]`
 */
export function pickRows(x: Value, picked: PickedRows): Value {
  requireFields('pickRows: picked', {}, picked);
  const [y] = customGradient(
    [x],
    () => [gather(x, picked.rows)],
    ([upstream]) => [spread(upstream!, picked)],
  );
  return y;
}

/**
 * The matrix that has the rows of `x` where they were picked, and 0 elsewhere.
 *
 * @param x - `[picked, width]`
 * @returns `[count, width]`
 */
export function spreadRows(x: Value, picked: PickedRows): Value {
  requireFields('spreadRows: picked', {}, picked);
  const [y] = customGradient(
    [x],
    () => [spread(x, picked)],
    ([upstream]) => [gather(upstream!, picked.rows)],
  );
  return y;
}

function spread(x: Value, { places }: PickedRows): Value {
  const width = x.shape[1]!;
  const padded = concat([x, filled(x.graph, x.type, [1, width])], 0);
  return reshape(gather(padded, places), [places.shape[0]!, width]);
}
