import { ArgumentError, type TensorOps } from '@rlp/core';
import * as binary from './binary.ts';
import { broadcastShape, type Matrix } from './matrix.ts';
import * as unary from './unary.ts';

/** A matrix on a {@link Tape}. */
export interface Variable extends Matrix {
  /** Whether a gradient flows to it. */
  readonly tracked: boolean;
}

interface Node extends Variable {
  /** Accumulated while {@link Tape.backward} runs; kept for variables of the caller. */
  gradient: Float64Array | undefined;
}

/**
 * Eager {@link TensorOps}: float64 matrices, computed at once, with a reverse tape.
 *
 * Gradients are exact derivatives under the conventions that {@link TensorOps} states. Only what depends on a
 * {@link Tape.variable} is recorded, so data columns cost nothing in the backward pass. A tape serves one evaluation.
 */
export class Tape implements TensorOps<Variable> {
  /** One closure per recorded operation: moves the gradient of its result to its operands. */
  readonly #steps: (() => void)[] = [];

  /** A matrix to differentiate by. */
  variable(matrix: Matrix): Variable {
    return node(matrix, true);
  }

  /** A matrix that is data: no gradient flows to it. */
  data(matrix: Matrix): Variable {
    return node(matrix, false);
  }

  /**
   * Carries the gradient of `Σ seed · output` back to every variable. Call once.
   *
   * @param seed - Same shape as `output`.
   * @throws {@link ArgumentError} when the shapes differ.
   */
  backward(output: Variable, seed: Matrix): void {
    if (seed.rows !== output.rows || seed.columns !== output.columns) {
      throw new ArgumentError(
        `backward: the seed must have the output's shape [${output.rows}, ${output.columns}], ` +
          `got [${seed.rows}, ${seed.columns}]`,
      );
    }
    const into = gradientOf(output);
    if (into === undefined) return;
    for (let index = 0; index < into.length; index++) into[index]! += seed.data[index]!;
    for (const step of this.#steps.reverse()) step();
    this.#steps.length = 0;
  }

  /** Gradient with respect to `variable`, after {@link Tape.backward}; zeros where nothing flowed. */
  gradient(variable: Variable): Matrix {
    const data = (variable as Node).gradient ?? new Float64Array(variable.data.length);
    return { rows: variable.rows, columns: variable.columns, data };
  }

  constant(value: number): Variable {
    return node({ rows: 1, columns: 1, data: Float64Array.of(value) }, false);
  }

  add(a: Variable, b: Variable): Variable {
    return this.#binary('add', binary.add, a, b);
  }
  sub(a: Variable, b: Variable): Variable {
    return this.#binary('sub', binary.sub, a, b);
  }
  mul(a: Variable, b: Variable): Variable {
    return this.#binary('mul', binary.mul, a, b);
  }
  div(a: Variable, b: Variable): Variable {
    return this.#binary('div', binary.div, a, b);
  }
  minimum(a: Variable, b: Variable): Variable {
    return this.#binary('minimum', binary.minimum, a, b);
  }
  maximum(a: Variable, b: Variable): Variable {
    return this.#binary('maximum', binary.maximum, a, b);
  }
  greater(a: Variable, b: Variable): Variable {
    return this.#binary('greater', binary.greater, a, b);
  }
  greaterEqual(a: Variable, b: Variable): Variable {
    return this.#binary('greaterEqual', binary.greaterEqual, a, b);
  }

  neg(x: Variable): Variable {
    return this.#unary(unary.neg, x);
  }
  abs(x: Variable): Variable {
    return this.#unary(unary.abs, x);
  }
  square(x: Variable): Variable {
    return this.#unary(unary.square, x);
  }
  sqrt(x: Variable): Variable {
    return this.#unary(unary.sqrt, x);
  }
  exp(x: Variable): Variable {
    return this.#unary(unary.exp, x);
  }
  log(x: Variable): Variable {
    return this.#unary(unary.log, x);
  }
  sigmoid(x: Variable): Variable {
    return this.#unary(unary.sigmoid, x);
  }
  tanh(x: Variable): Variable {
    return this.#unary(unary.tanh, x);
  }
  clip(x: Variable, low: number, high: number): Variable {
    return this.#unary(unary.clip(low, high), x);
  }

  where(condition: Variable, a: Variable, b: Variable): Variable {
    const taken = this.#binary('where', binary.keepWhere, a, condition);
    return this.add(taken, this.#binary('where', binary.keepWhereNot, b, condition));
  }

  sum(x: Variable): Variable {
    let total = 0;
    for (let index = 0; index < x.data.length; index++) total += x.data[index]!;
    const result = node({ rows: 1, columns: 1, data: Float64Array.of(total) }, x.tracked);
    this.#record(result, (gradient) => {
      const into = gradientOf(x)!;
      const incoming = gradient[0]!;
      for (let index = 0; index < into.length; index++) into[index]! += incoming;
    });
    return result;
  }

  rowSum(x: Variable): Variable {
    const { rows, columns, data } = x;
    const result = node({ rows, columns: 1, data: new Float64Array(rows) }, x.tracked);
    for (let row = 0, at = 0; row < rows; row++) {
      let total = 0;
      for (let column = 0; column < columns; column++, at++) total += data[at]!;
      result.data[row] = total;
    }
    this.#record(result, (gradient) => {
      const into = gradientOf(x)!;
      for (let row = 0, at = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++, at++) into[at]! += gradient[row]!;
      }
    });
    return result;
  }

  rowMax(x: Variable): Variable {
    const { rows, columns, data } = x;
    const result = node({ rows, columns: 1, data: new Float64Array(rows) }, x.tracked);
    for (let row = 0; row < rows; row++) {
      let largest = Number.NEGATIVE_INFINITY;
      for (let at = row * columns; at < (row + 1) * columns; at++) largest = Math.max(largest, data[at]!);
      result.data[row] = largest;
    }
    this.#record(result, (gradient) => shareAmongLargest(x, result.data, gradient, gradientOf(x)!));
    return result;
  }

  stopGradient(x: Variable): Variable {
    return node(x, false);
  }

  #unary(kernel: unary.UnaryKernel, x: Variable): Variable {
    const out = new Float64Array(x.data.length);
    kernel.forward(x.data, out);
    const result = node({ rows: x.rows, columns: x.columns, data: out }, x.tracked);
    this.#record(result, (gradient) => kernel.backward(x.data, out, gradient, gradientOf(x)!));
    return result;
  }

  #binary(operation: string, kernel: binary.BinaryKernel, a: Variable, b: Variable): Variable {
    const { rows, columns } = broadcastShape(operation, a, b);
    const tracked = kernel.backward !== undefined && (a.tracked || b.tracked);
    const result = node({ rows, columns, data: new Float64Array(rows * columns) }, tracked);
    kernel.forward(a, b, result);
    this.#record(result, (gradient) =>
      kernel.backward?.(a, b, { rows, columns, data: gradient }, gradientOf(a), gradientOf(b)),
    );
    return result;
  }

  /** Remembers how the gradient of `result` moves on; its own buffer is freed once it has. */
  #record(result: Node, move: (gradient: Float64Array) => void): void {
    if (!result.tracked) return;
    this.#steps.push(() => {
      if (result.gradient === undefined) return;
      move(result.gradient);
      result.gradient = undefined;
    });
  }
}

/** Splits the gradient of each row's largest element among the elements equal to it. */
function shareAmongLargest(
  x: Matrix,
  largest: Float64Array,
  gradient: Float64Array,
  into: Float64Array,
): void {
  for (let row = 0; row < x.rows; row++) {
    if (gradient[row] === 0) continue;
    const [start, end] = [row * x.columns, (row + 1) * x.columns];
    let equals = 0;
    for (let at = start; at < end; at++) if (x.data[at] === largest[row]) equals += 1;
    for (let at = start; at < end; at++) {
      if (x.data[at] === largest[row]) into[at]! += gradient[row]! / equals;
    }
  }
}

function node({ rows, columns, data }: Matrix, tracked: boolean): Node {
  return { rows, columns, data, tracked, gradient: undefined };
}

/** The buffer to add a gradient to; nothing where none flows. */
function gradientOf(variable: Variable): Float64Array | undefined {
  if (!variable.tracked) return undefined;
  const own = variable as Node;
  own.gradient ??= new Float64Array(own.data.length);
  return own.gradient;
}
