export { type EvaluateInputs, type Evaluation, evaluate } from './evaluate.ts';
export { type Matrix, matrixFromRows, matrixRows } from './matrix.ts';
export { Tape, type Variable } from './tape.ts';
