import { defineOp, type Value } from '../graph/graph.ts';

const addition = defineOp({ type: 'Add' });

/**
 * `total + x` with the shape of `x`. Where `x` is a matrix product without a bias, the product starts from `total` instead, which
 * spares a pass over it.
 */
export function addOnto(total: Value, x: Value): Value {
  const { graph, node, type, shape } = x;
  const declared = [{ type, shape }];
  const [sum] =
    node?.definition.type === 'Gemm' && node.inputs.length === 2
      ? graph.apply(node.definition, [...node.inputs, total], node.attributes, declared)
      : graph.apply(addition, [total, x], {}, declared);
  return sum!;
}
