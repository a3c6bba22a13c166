import { describeTensorOps, type Rows } from '@rlp/core/testing';
import { Graph, gradients } from './index.ts';
import { load, type Numbers } from './testing/evaluate.ts';
import { traceOps } from './trace-ops.ts';

function numbersOf(rows: Rows): Numbers {
  return { shape: [rows.length, rows[0]?.length ?? 0], data: rows.flat() };
}

function rowsOf({ shape: [rows = 0, columns = 0], data }: Numbers): Rows {
  return Array.from({ length: rows }, (_, row) => data.slice(row * columns, (row + 1) * columns));
}

describeTensorOps('the tracing into a graph', {
  async evaluate(compute, inputs) {
    const graph = new Graph();
    const numbers = inputs.map(numbersOf);
    const values = numbers.map(({ shape }, index) => graph.input(`x${index}`, 'float32', shape));
    const ops = traceOps(graph);
    const output = compute(ops, values);
    graph.output('value', output);
    const derived = gradients(ops.sum(output), values);
    for (const [index, gradient] of derived.entries()) graph.output(`d${index}`, gradient);
    const { run } = await load(graph);
    const found = await run(Object.fromEntries(numbers.map((given, index) => [`x${index}`, given])));
    return { value: rowsOf(found.value!), gradients: inputs.map((_, index) => rowsOf(found[`d${index}`]!)) };
  },
});
