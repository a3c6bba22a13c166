import { ArgumentError, computedLoss, declaredColumns, described, type Loss, requireFields } from '@rlp/core';
import { Arena } from './arena.ts';
import { Region } from './kernel/region.ts';
import type { Matrix, Shape } from './matrix.ts';
import { Tape, type Variable } from './tape.ts';

/** What a loss is evaluated on. Every matrix is `[B, T]`. */
export interface EvaluateInputs {
  /** Log-probabilities of the policy. The loss is differentiated with respect to them. */
  readonly logprobs: Matrix;
  /** 1 where a token counts. */
  readonly mask: Matrix;
  /** Factor of each token's loss. Ignored where `mask` is 0. */
  readonly weights: Matrix;
  /** Entropies of the policy's distributions, also differentiated. Needed by losses that read them. */
  readonly entropies?: Matrix | undefined;
  /** Values of the critic for the state before each token, also differentiated. Needed by losses that read them. */
  readonly values?: Matrix | undefined;
  /** Data columns by name. */
  readonly columns?: Readonly<Record<string, Matrix>> | undefined;
}

/** Value and gradients of a loss. */
export interface Evaluation {
  /** `Σ weights · tokenLosses` over tokens with `mask` 1. */
  readonly value: number;
  /** Derivatives of `value`, each `[B, T]`. They are 0 where `mask` is 0 and nothing else depends on the position. */
  readonly gradients: {
    readonly logprobs: Matrix;
    readonly entropies?: Matrix | undefined;
    readonly values?: Matrix | undefined;
  };
  /** Loss of each token, before weights. Shape: `[B, T]`. */
  readonly tokenLosses: Matrix;
  /** Metrics of the loss, as means over tokens with `mask` 1, or 0 without such tokens. */
  readonly metrics: Readonly<Record<string, number>>;
}

/**
 * Evaluates a loss in float64, with its gradients by logprobs, entropies and values.
 *
 *     value = Σ_{b,t} mask · weights · tokenLosses
 *
 * @throws ArgumentError for matrices of different shapes, missing columns, missing entropies or missing values.
 */
export function evaluate(loss: Loss, inputs: EvaluateInputs): Evaluation {
  checkInputs(loss, inputs);
  const region = new Region();
  try {
    return finish(evaluateBlocks(loss, inputs, new Arena(region)));
  } finally {
    region.close();
  }
}

function evaluateBlocks(loss: Loss, inputs: EvaluateInputs, arena: Arena): Results {
  const { rows } = inputs.logprobs;
  const blockRows = rowsPerBlock(inputs.logprobs);
  let results = emptyResults(inputs);
  for (let start = 0; start < rows || start === 0; start += blockRows) {
    const end = Math.min(rows, start + blockRows);
    const { rowsMixed } = evaluateBlock(loss, inputs, { start, end, arena, results });
    if (rowsMixed === 'yes' && (start > 0 || end < rows)) {
      results = emptyResults(inputs);
      evaluateBlock(loss, inputs, { start: 0, end: rows, arena: new Arena(), results });
      break;
    }
    arena.reset();
  }
  return results;
}

/**
 * Rows that are computed together, about 16 384 tokens in at most 1024 blocks.
 *
 * Most losses treat every row by itself. Blocks of rows keep temporaries in the cache and in the kernel's memory. A loss that
 * sums over all rows is computed on all of them at once, by the plain loops.
 */
function rowsPerBlock({ rows, columns }: Shape): number {
  return Math.max(1, Math.floor(16_384 / Math.max(1, columns)), Math.ceil(rows / 1024));
}

/** Results as they grow, block by block. */
interface Results {
  value: number;
  tokens: number;
  readonly tokenLosses: Matrix;
  readonly gradients: { readonly logprobs: Matrix; readonly entropies?: Matrix; readonly values?: Matrix };
  /** Sums over tokens with `mask` 1. */
  readonly metrics: Map<string, number>;
}

function emptyResults({ logprobs, entropies, values }: EvaluateInputs): Results {
  return {
    value: 0,
    tokens: 0,
    tokenLosses: zeros(logprobs),
    gradients: {
      logprobs: zeros(logprobs),
      ...(entropies && { entropies: zeros(entropies) }),
      ...(values && { values: zeros(values) }),
    },
    metrics: new Map(),
  };
}

function finish({ value, tokens, tokenLosses, gradients, metrics }: Results): Evaluation {
  const means = [...metrics].map(([name, total]) => [name, tokens === 0 ? 0 : total / tokens]);
  return { value, gradients, tokenLosses, metrics: Object.fromEntries(means) };
}

/** Evaluates some of the rows, and adds what comes of them to the results. */
function evaluateBlock(
  loss: Loss,
  inputs: EvaluateInputs,
  {
    start,
    end,
    arena,
    results,
  }: {
    readonly start: number;
    readonly end: number;
    readonly arena: Arena;
    readonly results: Results;
  },
): Tape {
  const tape = new Tape(arena);
  const block = (matrix: Matrix) => rowsOf(matrix, start, end);
  const { mask, variables, columns } = hold(inputs, tape, (matrix) => {
    const { data, ...shape } = block(matrix);
    return { ...shape, data: arena.hold(data) };
  });
  const output = computedLoss<Variable>(loss, tape, {
    ...variables,
    mask: tape.data(mask),
    columns: declaredColumns(loss, (name) => columns[name]!),
  });
  const seed = { ...mask, data: arena.zeros(mask.data.length) };
  const tokenLosses = widen(tape, output.tokenLosses, { ...mask, data: arena.zeros(mask.data.length) });
  const first = start * mask.columns;
  results.tokenLosses.data.set(tokenLosses.data, first);
  results.value += weightedSum(tokenLosses, { mask, weights: block(inputs.weights), seed });
  tape.backward(tokenLosses, seed);
  for (const name of ['logprobs', 'entropies', 'values'] as const) {
    const [variable, gradient] = [variables[name], results.gradients[name]];
    if (variable && gradient) gradient.data.set(tape.gradient(variable).data, first);
  }
  results.tokens += countNonZero(mask.data);
  for (const [name, metric] of Object.entries(output.metrics ?? {})) {
    results.metrics.set(name, (results.metrics.get(name) ?? 0) + maskedSum(metric, mask));
  }
  return tape;
}

/** Inputs of a loss on a tape. `held` gives the part of each that is evaluated. */
function hold(inputs: EvaluateInputs, tape: Tape, held: (matrix: Matrix) => Matrix) {
  const { mask, logprobs, entropies, values, columns = {} } = inputs;
  const data = Object.entries(columns).map(([name, matrix]) => [name, tape.data(held(matrix))] as const);
  return {
    mask: held(mask),
    columns: Object.fromEntries(data),
    variables: {
      logprobs: tape.variable(held(logprobs)),
      entropies: entropies && tape.variable(held(entropies)),
      values: values && tape.variable(held(values)),
    },
  };
}

/** Some rows of a matrix, as a view of its memory. */
function rowsOf({ columns, data }: Matrix, start: number, end: number): Matrix {
  return { rows: end - start, columns, data: data.subarray(start * columns, end * columns) };
}

/** Token losses in the shape of the batch. A loss may return one per sequence, or one number. */
function widen(tape: Tape, losses: Variable, zeroes: Matrix): Variable {
  if (losses.rows === zeroes.rows && losses.columns === zeroes.columns) return losses;
  return tape.add(losses, tape.data(zeroes));
}

/** The weighted sum of the token losses. Writes its derivative by each of them to `seed`. */
function weightedSum(
  losses: Matrix,
  { mask, weights, seed }: { readonly mask: Matrix; readonly weights: Matrix; readonly seed: Matrix },
): number {
  const [counts, factors, into, values] = [mask.data, weights.data, seed.data, losses.data];
  let value = 0;
  for (let index = 0; index < counts.length; index++) {
    if (counts[index] === 0 || factors[index] === 0) continue;
    into[index] = factors[index]!;
    value += factors[index]! * values[index]!;
  }
  return value;
}

function countNonZero(values: Float64Array): number {
  let count = 0;
  for (let index = 0; index < values.length; index++) if (values[index] !== 0) count++;
  return count;
}

/** Sum over tokens with `mask` 1 of a metric, which may be one number per sequence or one in all. */
function maskedSum(metric: Matrix, mask: Matrix): number {
  const [values, counts] = [metric.data, mask.data];
  let total = 0;
  if (values.length === counts.length) {
    for (let at = 0; at < counts.length; at++) if (counts[at] !== 0) total += values[at]!;
    return total;
  }
  for (let at = 0; at < counts.length; at++) {
    if (counts[at] === 0) continue;
    const row = metric.rows === 1 ? 0 : Math.floor(at / mask.columns);
    const column = metric.columns === 1 ? 0 : at % mask.columns;
    total += values[row * metric.columns + column]!;
  }
  return total;
}

function zeros({ rows, columns }: Shape): Matrix {
  return { rows, columns, data: new Float64Array(rows * columns) };
}

function checkInputs(loss: Loss, inputs: EvaluateInputs): void {
  requireFields('evaluate: loss', { columns: 'list', compute: 'function' }, loss);
  requireFields('evaluate: inputs', { logprobs: 'object' }, inputs);
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
  if (!(inputs.logprobs.data instanceof Float64Array)) {
    throw new ArgumentError(
      `evaluate: expected matrices, got ${described(inputs.logprobs)} as logprobs; matrixFromRows makes one of rows`,
    );
  }
  const { mask, weights, entropies, values } = inputs;
  for (const [name, matrix] of Object.entries({ mask, weights, entropies, values, ...inputs.columns })) {
    if (matrix === undefined || (matrix.rows === rows && matrix.columns === columns)) continue;
    throw new ArgumentError(
      `evaluate: ${name} must have the shape of logprobs [${rows}, ${columns}], got [${matrix.rows}, ${matrix.columns}]`,
    );
  }
}
