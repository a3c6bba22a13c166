export { type EvaluateInputs, type Evaluation, evaluate } from './eager/evaluate.ts';
export { type Matrix, matrixFromRows, matrixRows } from './eager/matrix.ts';
export { Tape, type Variable } from './eager/tape.ts';
