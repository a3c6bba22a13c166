import type { Graph, Value } from '@rlp/onnx';
import type { ParameterBlock } from '../program-protocol.ts';

/**
 * Most rows of an output matrix that are used at once. Measured in `docs/performance.md`: larger blocks run slower, and smaller
 * ones cost more passes over the hidden states.
 */
export const headBlockRows = 4096;

/** Rows of a parameter as an input of their own. */
export interface BlockInput {
  readonly block: ParameterBlock;
  readonly value: Value;
}

/** Inputs for a matrix in parts of equal size, as far as possible; none if it is small enough as it is. */
export function cutRows(graph: Graph, parameter: string, matrix: Value): BlockInput[] {
  const [total, width] = matrix.shape as [number, number];
  if (total <= headBlockRows) return [];
  const size = Math.ceil(total / Math.ceil(total / headBlockRows));
  return Array.from({ length: Math.ceil(total / size) }, (_, index) => {
    const firstRow = index * size;
    const shape = [Math.min(size, total - firstRow), width] as const;
    const input = `${parameter}:${firstRow}`;
    return { block: { parameter, input, firstRow, shape }, value: graph.input(input, 'float32', shape) };
  });
}
