import { ArgumentError, type Loss } from '@rlp/core';
import type { Matrix } from './matrix.ts';
import { Tape, type Variable } from './tape.ts';

/** What a loss is evaluated on; every matrix is `[B, T]`. */
export interface EvaluateInputs {
  /** Of the policy; differentiated by. */
  readonly logprobs: Matrix;
  /** 1 where a token counts. */
  readonly mask: Matrix;
  /** Factor of each token's loss; ignored where `mask` is 0. */
  readonly weights: Matrix;
  /** Of the policy's distributions; differentiated by. Needed by losses that ask for them. */
  readonly entropies?: Matrix | undefined;
  /** Of the critic, for the state before each token; differentiated by. Needed by losses that ask for them. */
  readonly values?: Matrix | undefined;
  /** Data columns by name. */
  readonly columns?: Readonly<Record<string, Matrix>> | undefined;
}

/** Value and gradients of a loss. */
export interface Evaluation {
  /** `Σ weights · tokenLosses` over tokens with `mask` 1. */
  readonly value: number;
  /** Derivatives of `value`, each `[B, T]`; 0 wherever `mask` is 0 and nothing else depends on the position. */
  readonly gradients: {
    readonly logprobs: Matrix;
    readonly entropies?: Matrix | undefined;
    readonly values?: Matrix | undefined;
  };
  /** Loss of each token, before weights. Shape: `[B, T]`. */
  readonly tokenLosses: Matrix;
  /** The loss's diagnostics: means over tokens with `mask` 1; 0 when there are none. */
  readonly metrics: Readonly<Record<string, number>>;
}

/**
 * Evaluates a loss and its gradient with respect to the policy's logprobs (and entropies, and the critic's values), in
 * float64.
 *
 *     value = Σ_{b,t} mask · weights · tokenLosses
 *
 * @throws {@link ArgumentError} for matrices of different shapes, missing columns, missing entropies or missing values.
 */
export function evaluate(loss: Loss, inputs: EvaluateInputs): Evaluation {
  checkInputs(loss, inputs);
  const { mask, weights } = inputs;
  const tape = new Tape();
  const logprobs = tape.variable(inputs.logprobs);
  const entropies = inputs.entropies === undefined ? undefined : tape.variable(inputs.entropies);
  const values = inputs.values === undefined ? undefined : tape.variable(inputs.values);
  const columns = Object.entries(inputs.columns ?? {}).map(([name, matrix]) => [name, tape.data(matrix)]);
  const output = loss.compute<Variable>(tape, {
    logprobs,
    mask: tape.data(mask),
    entropies,
    values,
    columns: Object.fromEntries(columns) as Record<string, Variable>,
  });
  const tokenLosses = widen(tape, output.tokenLosses, mask);
  const { value, seed } = weightedSum(tokenLosses, mask, weights);
  tape.backward(tokenLosses, seed);
  return {
    value,
    gradients: {
      logprobs: tape.gradient(logprobs),
      ...(entropies === undefined ? {} : { entropies: tape.gradient(entropies) }),
      ...(values === undefined ? {} : { values: tape.gradient(values) }),
    },
    tokenLosses,
    metrics: Object.fromEntries(
      Object.entries(output.metrics ?? {}).map(([name, metric]) => [name, maskedMean(metric, mask)]),
    ),
  };
}

/** Token losses in the shape of the batch: a loss may give one per sequence, or one number. */
function widen(tape: Tape, losses: Variable, { rows, columns }: Matrix): Variable {
  if (losses.rows === rows && losses.columns === columns) return losses;
  return tape.add(losses, tape.data(zeros({ rows, columns })));
}

/** The weighted sum of the token losses, and its derivative by each of them. */
function weightedSum(losses: Matrix, mask: Matrix, weights: Matrix): { value: number; seed: Matrix } {
  const seed = zeros(mask);
  let value = 0;
  for (let index = 0; index < mask.data.length; index++) {
    if (mask.data[index] === 0 || weights.data[index] === 0) continue;
    seed.data[index] = weights.data[index]!;
    value += weights.data[index]! * losses.data[index]!;
  }
  return { value, seed };
}

function maskedMean(metric: Matrix, mask: Matrix): number {
  const rowStride = metric.rows === 1 ? 0 : metric.columns;
  const columnStride = metric.columns === 1 ? 0 : 1;
  let total = 0;
  let count = 0;
  for (let row = 0, at = 0; row < mask.rows; row++) {
    for (let column = 0; column < mask.columns; column++, at++) {
      if (mask.data[at] === 0) continue;
      total += metric.data[row * rowStride + column * columnStride]!;
      count++;
    }
  }
  return count === 0 ? 0 : total / count;
}

function zeros({ rows, columns }: Pick<Matrix, 'rows' | 'columns'>): Matrix {
  return { rows, columns, data: new Float64Array(rows * columns) };
}

function checkInputs(loss: Loss, inputs: EvaluateInputs): void {
  const missing = loss.columns.filter((name) => inputs.columns?.[name] === undefined);
  if (missing.length > 0) {
    throw new ArgumentError(`evaluate: loss "${loss.key}" needs the columns ${missing.join(', ')}; add them`);
  }
  if (loss.entropies === 'needed' && inputs.entropies === undefined) {
    throw new ArgumentError(`evaluate: loss "${loss.key}" needs entropies; pass inputs.entropies`);
  }
  if (loss.values !== undefined && loss.values !== 'none' && inputs.values === undefined) {
    throw new ArgumentError(`evaluate: loss "${loss.key}" needs values; pass inputs.values`);
  }
  const { rows, columns } = inputs.logprobs;
  const { mask, weights, entropies, values } = inputs;
  for (const [name, matrix] of Object.entries({ mask, weights, entropies, values, ...inputs.columns })) {
    if (matrix === undefined || (matrix.rows === rows && matrix.columns === columns)) continue;
    throw new ArgumentError(
      `evaluate: ${name} must have the shape of logprobs [${rows}, ${columns}], got [${matrix.rows}, ${matrix.columns}]`,
    );
  }
}
