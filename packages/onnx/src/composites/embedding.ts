import { ArgumentError } from '@rlp/core';

import { defineOp, type Value } from '../graph/graph.ts';
import { formatShape } from '../graph/shape.ts';
import { gather } from '../ops/indexing.ts';
import { applyOne, expectIndices } from '../ops/operand.ts';

/**
 * How the gradient of a table of rows is made. `'dense'` has the table's own shape. With `'rows'` the table gets no gradient
 * from the rows that were picked; ask for `gradients(loss, [rows])` instead and add row `n` of it to row `ids[n]` of the
 * table's gradient outside the graph, which is faster where the table is large.
 */
export type TableGradient = 'dense' | 'rows';

/** Options of {@link embedding}. */
export interface EmbeddingOptions {
  /** Default `'dense'`. */
  readonly gradient?: TableGradient;
}

const lookupOp = defineOp({ type: 'Gather' });

/**
 * Rows of `weight` `[vocabulary, width]` at `ids` (int64 or int32, any shape): `[…ids, width]`. Duplicate ids add up in
 * the dense gradient.
 */
export function embedding(weight: Value, ids: Value, { gradient = 'dense' }: EmbeddingOptions = {}): Value {
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
