import type { Graph, Value } from '@rlp/onnx';
import type { ParameterBlock } from '../program-protocol.ts';

/** Vocabulary from which the head's probabilities are computed twice, because they would take most of the memory. */
export const largeVocabulary = 65_536;

/** Maximum rows of an output matrix used at once. Larger blocks run slower. Smaller ones need more passes, and the graph takes longer to compile. */
export function headBlockRows(vocabularySize: number): number {
  return vocabularySize < largeVocabulary ? 2048 : 4096;
}

/** Rows of a parameter as a separate input. */
export interface BlockInput {
  readonly block: ParameterBlock;
  readonly value: Value;
}

/** Inputs for a matrix in blocks of nearly equal size. Empty if the matrix is small enough. */
export function cutRows(graph: Graph, parameter: string, matrix: Value): BlockInput[] {
  const [total, width] = matrix.shape as [number, number];
  const most = headBlockRows(total);
  if (total <= most) return [];
  const size = Math.ceil(total / Math.ceil(total / most));
  return Array.from({ length: Math.ceil(total / size) }, (_, index) => {
    const firstRow = index * size;
    const shape = [Math.min(size, total - firstRow), width] as const;
    const input = `${parameter}:${firstRow}`;
    return { block: { parameter, input, firstRow, shape }, value: graph.input(input, 'float32', shape) };
  });
}
