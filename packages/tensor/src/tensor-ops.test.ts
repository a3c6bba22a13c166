import { describeTensorOps } from '@rlp/core/testing';
import { matrixFromRows, matrixRows } from './matrix.ts';
import { Tape } from './tape.ts';

describeTensorOps('the eager tape', {
  tolerance: 1e-8,
  evaluate(compute, inputs) {
    const tape = new Tape();
    const variables = inputs.map((rows) => tape.variable(matrixFromRows(rows)));
    const output = compute(tape, variables);
    const ones = { ...output, data: new Float64Array(output.data.length).fill(1) };
    tape.backward(output, ones);
    const rowsOf = (matrix: Parameters<typeof matrixRows>[0]) => matrixRows(matrix).map((row) => [...row]);
    return {
      value: rowsOf(output),
      gradients: variables.map((variable) => rowsOf(tape.gradient(variable))),
    };
  },
});
