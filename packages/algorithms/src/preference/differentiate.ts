import { type Matrix, Tape, type Variable } from '@rlp/tensor';
import type { PairTerm } from './loss-options.ts';
import type { PairInputs } from './pair-losses.ts';
import { pairLoss } from './preference-losses.ts';

/** One number per pair or sequence, by name. Shape of each: `[B]`. */
type Columns<Name extends string> = Readonly<Record<Name, Float64Array>>;

/** Columns of pairs. The first four carry the gradient. */
export type PairColumns = Columns<keyof PairInputs<unknown>>;
const differentiable = ['chosen', 'rejected', 'completion', 'sequence'] as const;

/** Value of a loss, and its derivatives by the columns that carry a gradient. Shape of each: `[B]`. */
export interface Differentiated<Name extends string> {
  readonly value: number;
  readonly gradients: Columns<Name>;
}

/** Derivatives of a loss over pairs. */
export type PairGradients = Differentiated<(typeof differentiable)[number]>;

/** The weighted sum of the terms, each averaged over the pairs of the batch, and its derivatives. */
export function differentiatePairs(terms: readonly PairTerm[], columns: PairColumns): PairGradients {
  const parts = terms.map((term) => differentiatePairTerm(term, columns));
  const total = (of: (part: PairGradients) => Float64Array) => {
    const sum = new Float64Array(columns.chosen.length);
    for (const [index, part] of parts.entries()) {
      const values = of(part);
      for (let row = 0; row < sum.length; row++) sum[row]! += terms[index]!.weight * values[row]!;
    }
    return sum;
  };
  return {
    value: parts.reduce((sum, { value }, index) => sum + terms[index]!.weight * value, 0),
    gradients: {
      chosen: total(({ gradients }) => gradients.chosen),
      rejected: total(({ gradients }) => gradients.rejected),
      completion: total(({ gradients }) => gradients.completion),
      sequence: total(({ gradients }) => gradients.sequence),
    },
  };
}

function differentiatePairTerm(term: PairTerm, columns: PairColumns): PairGradients {
  if (term.kind === 'aot-unpaired') {
    const order = matchedByRank(
      difference(columns.chosen, columns.referenceChosen),
      difference(columns.rejected, columns.referenceRejected),
    );
    const moved = ['rejected', 'referenceRejected', 'rejectedTokens'] as const;
    const { value, gradients } = differentiatePlain(term, reordered(columns, order, moved));
    return { value, gradients: { ...gradients, rejected: restored(gradients.rejected, order) } };
  }
  if (term.kind === 'aot') {
    const order = matchedByRank(
      difference(columns.chosen, columns.rejected),
      difference(columns.referenceChosen, columns.referenceRejected),
    );
    return differentiatePlain(term, reordered(columns, order, ['referenceChosen', 'referenceRejected']));
  }
  return differentiatePlain(term, columns);
}

function differentiatePlain(term: PairTerm, columns: PairColumns): PairGradients {
  return differentiate(columns, differentiable, (tape, inputs) => pairLoss<Variable>(tape, inputs, term));
}

/** Mean of a loss over the rows, and its derivatives by the named columns. */
export function differentiate<Name extends string, Tracked extends Name>(
  columns: Columns<Name>,
  tracked: readonly Tracked[],
  compute: (tape: Tape, inputs: Readonly<Record<Name, Variable>>) => Variable,
): Differentiated<Tracked> {
  const tape = new Tape();
  const names = Object.keys(columns) as Name[];
  const inputs = record(names, (name) => {
    const matrix = column(columns[name]);
    return tracked.some((own) => own === name) ? tape.variable(matrix) : tape.data(matrix);
  });
  const losses = compute(tape, inputs);
  const { rows, data } = losses;
  const value = data.reduce((sum, loss) => sum + loss, 0) / rows;
  tape.backward(losses, column(new Float64Array(rows).fill(1 / rows)));
  return { value, gradients: record(tracked, (name) => tape.gradient(inputs[name]).data) };
}

function column(data: Float64Array): Matrix {
  return { rows: data.length, columns: 1, data };
}

function record<Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value) {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;
}

function difference(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, index) => value - b[index]!);
}

/** For each row, the row of `others` with the same rank as the row has in `own`. */
function matchedByRank(own: Float64Array, others: Float64Array): Uint32Array {
  const [ranked, matched] = [ascending(own), ascending(others)];
  const order = new Uint32Array(own.length);
  for (const [rank, row] of ranked.entries()) order[row] = matched[rank]!;
  return order;
}

function ascending(values: Float64Array): number[] {
  return [...values.keys()].sort((a, b) => values[a]! - values[b]! || a - b);
}

function reordered(
  columns: PairColumns,
  order: Uint32Array,
  moved: readonly (keyof PairColumns)[],
): PairColumns {
  return record(Object.keys(columns) as (keyof PairColumns)[], (name) =>
    moved.includes(name) ? columns[name].map((_, row) => columns[name][order[row]!]!) : columns[name],
  );
}

function restored(values: Float64Array, order: Uint32Array): Float64Array {
  const result = new Float64Array(values.length);
  for (const [row, from] of order.entries()) result[from] = values[row]!;
  return result;
}
