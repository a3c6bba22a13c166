import { customGradient } from '../autodiff/custom-gradient.ts';
import type { Value } from '../graph/graph.ts';
import { gather } from '../ops/indexing.ts';
import { concat } from '../ops/layout.ts';
import { filled, reshape } from '../ops/shape.ts';

/**
 * Rows of `x` at `rows`, none of which repeats.
 *
 * The gradient is a lookup as well, which is much faster than adding rows at indices.
 *
 * @param x - `[count, width]`
 * @param rows - int64 `[picked]`
 * @param places - Place of each row of `x` in `rows`, int64 `[count]`. `picked` for a row that is not picked.
 * @returns `[picked, width]`
 */
export function pickRows(x: Value, rows: Value, places: Value): Value {
  const [count, width] = x.shape as [number, number];
  const [y] = customGradient(
    [x],
    () => [gather(x, rows)],
    ([upstream]) => {
      const padded = concat([upstream!, filled(x.graph, x.type, [1, width])], 0);
      return [reshape(gather(padded, places), [count, width])];
    },
  );
  return y;
}
