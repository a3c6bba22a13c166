import { Graph } from '../../graph/graph.ts';
import { serialize } from '../../graph/serialize.ts';
import { add, mul } from '../../ops/arithmetic.ts';
import { matmul } from '../../ops/matrix.ts';
import { sum } from '../../ops/shape.ts';

/** y = factor·x for a float32 `x` of a given shape. */
export function scaleModel(shape: readonly (number | string)[], factor: number): Uint8Array {
  const graph = new Graph();
  const x = graph.input('x', 'float32', shape);
  graph.output('y', mul(x, factor));
  return serialize(graph);
}

/** Three outputs, a large one last: total = Σ x (a scalar), y = 2·x (unknown length), z = 3·x (known shape). */
export function mixedModel(): Uint8Array {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [4]);
  const v = graph.input('v', 'float32', ['n']);
  graph.output('total', sum(x, { axes: [0] }));
  graph.output('y', mul(v, 2));
  graph.output('z', mul(x, 3));
  graph.output('w', add(x, 1));
  return serialize(graph);
}

/** y = x·x·…·x (matrix products), to keep ONNX Runtime busy. */
export function busyModel(size: number, times: number): Uint8Array {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [size, size]);
  let y = x;
  for (let i = 0; i < times; i++) y = matmul(y, x);
  graph.output('y', y);
  return serialize(graph);
}
