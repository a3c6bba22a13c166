import { ArgumentError, requireFields } from '@rlp/core';
import { expectValues } from '../graph/expect-values.ts';

import { defineOp, type Value } from '../graph/graph.ts';
import { formatShape } from '../graph/shape.ts';
import { gather } from '../ops/indexing.ts';
import { applyOne, expectIndices } from '../ops/operand.ts';

/**
 * Form of the gradient of a table of rows.
 *
 * - `'dense'`: the gradient has the table's shape.
 * - `'rows'`: the table gets no gradient from the selected rows. Ask for `gradients(loss, [rows])` instead.
 *   Add its row `n` to row `ids[n]` of the table's gradient outside the graph. This is faster for large
 *   tables.
 */
export type TableGradient = 'dense' | 'rows';

/** Options of {@link embedding}. */
export interface EmbeddingOptions {
  /** Form of the gradient of `weight`. Default `'dense'`. */
  readonly gradient?: TableGradient;
}

const lookupOp = defineOp({ type: 'Gather' });

/**
 * Rows of `weight` at `ids`. The dense gradient sums over duplicate ids.
 *
 * @param weight - `[vocabulary, width]`
 * @param ids - int64 or int32, any shape.
 * @returns `[…ids, width]`
 */
export function embedding(weight: Value, ids: Value, options: EmbeddingOptions = {}): Value {
  const { gradient = 'dense' } = requireFields('embedding: options', {}, options);
  expectValues('embedding', { weight });
  expectIndices('embedding', ids);
  if (weight.shape.length !== 2) {
    throw new ArgumentError(
      `embedding: weight must be [vocabulary, width], got ${formatShape(weight.shape)}`,
    );
  }
  if (gradient === 'dense') return gather(weight, ids);
  const shape = [...ids.shape, weight.shape[1]!];
  return applyOne(lookupOp, [weight, ids], { axis: 0 }, { type: weight.type, shape });
}
